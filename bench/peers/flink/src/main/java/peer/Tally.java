package peer;

import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** A sink that counts records and adds up their hashes: an operator, which costs least. */
final class Tally<T> extends AbstractStreamOperator<Long> implements OneInputStreamOperator<T, Long>, BoundedOneInput {
    interface Hash<T> extends Serializable {
        long of(T v);
    }

    private final Hash<T> hash;
    private transient long records;
    private transient long sum;

    Tally(Hash<T> hash) {
        this.hash = hash;
    }

    static <T> void of(DataStream<T> stream, Hash<T> hash) {
        stream.transform("tally", Types.LONG, new Tally<>(hash));
    }

    @Override
    public void processElement(StreamRecord<T> element) {
        records++;
        sum += hash.of(element.getValue());
    }

    @Override
    public void endInput() {
        Totals.add(records, sum);
    }
}
