package peer;

import java.util.function.LongFunction;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** A running count of tuples by key, on the heap. */
final class Keyed {
    static final TypeInformation<Tuple2<Long, Long>> PAIR = Types.TUPLE(Types.LONG, Types.LONG);

    private final Params p;
    private final Out out;

    Keyed(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        try (Cluster cluster = new Cluster(out, 1, "32kb")) {
            cluster.start();
            long n = p.number("records");
            for (int i = 0; i < p.integer("warmups"); i++) {
                job(cluster, n);
            }
            job(cluster, n);
            out.figure("throughput", "records/s", n / Totals.seconds(), Totals.records(), Totals.hash(), null);
            out.figure("cpu", "s/record", Totals.cpu() / n, n, null, null);
            out.memory();
        }
    }

    private void job(Cluster cluster, long n) throws Exception {
        StreamExecutionEnvironment env = cluster.environment(100);
        long keys = p.number("keys");
        Tally.of(count(env, new Numbers<>(new Pairs(keys), n, 0, 100)), t -> Totals.mix(t.f0 * 0x9E3779B97F4A7C15L + t.f1));
        Totals.reset();
        cluster.run(env);
    }

    static DataStream<Tuple2<Long, Long>> count(StreamExecutionEnvironment env, Numbers<Tuple2<Long, Long>> source) {
        return env.fromSource(source, WatermarkStrategy.noWatermarks(), "pairs", PAIR)
                .keyBy(t -> t.f0, Types.LONG).process(new Count(), PAIR).name("count");
    }

    /** The key of record n, and n. */
    static long key(long n, long keys) {
        return Long.remainderUnsigned(Totals.mix(n), keys);
    }

    private record Pairs(long keys) implements Numbers.Maker<Tuple2<Long, Long>> {
        @Override
        public LongFunction<Tuple2<Long, Long>> open() {
            Tuple2<Long, Long> one = new Tuple2<>();
            return n -> {
                one.f0 = key(n, keys);
                one.f1 = n;
                return one;
            };
        }
    }

    /** Passes on how often the key of a record has come. */
    static class Count extends KeyedProcessFunction<Long, Tuple2<Long, Long>, Tuple2<Long, Long>> {
        private transient ValueState<Long> state;
        private transient Tuple2<Long, Long> one;

        @Override
        public void open(OpenContext context) {
            state = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
            one = new Tuple2<>();
        }

        @Override
        public void processElement(Tuple2<Long, Long> v, Context context, Collector<Tuple2<Long, Long>> collector) throws Exception {
            Long before = state.value();
            one.f0 = v.f0;
            one.f1 = before == null ? 1L : before + 1;
            state.update(one.f1);
            collector.collect(one);
        }
    }
}
