package peer;

import com.hazelcast.jet.core.AbstractProcessor;
import com.hazelcast.jet.core.Inbox;
import java.util.Map;

/** A sink that adds up a check of the counts. */
final class AddCounts extends AbstractProcessor {
    private long records;
    private long sum;

    @Override
    @SuppressWarnings("unchecked")
    public void process(int ordinal, Inbox inbox) {
        inbox.drain(item -> {
            Map.Entry<Long, Long> count = (Map.Entry<Long, Long>) item;
            sum += Load.checked(count.getKey(), count.getValue());
            records++;
        });
    }

    @Override
    public boolean complete() {
        Main.FIGURES.add(records, sum, new long[0], 0);
        return true;
    }
}
