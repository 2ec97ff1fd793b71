package peer;

import com.hazelcast.jet.core.AbstractProcessor;
import com.hazelcast.jet.core.Inbox;
import com.hazelcast.jet.datamodel.KeyedWindowResult;
import java.util.Arrays;

/** A sink that adds up a check of the windows and, of a paced load, notes when they came. */
final class AddWindows extends AbstractProcessor {
    private final Load load;
    private final long end;
    private long records;
    private long sum;
    private long[] late = new long[1 << 16];
    private int size;

    AddWindows(Load load) {
        this.load = load;
        end = load.due(load.count() - 1);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void process(int ordinal, Inbox inbox) {
        inbox.drain(item -> {
            KeyedWindowResult<Long, Long> w = (KeyedWindowResult<Long, Long>) item;
            sum += Load.checked(w.key(), w.result()) * ((w.start() - load.start() / 1_000_000) | 1);
            records++;
            long due = w.end() * 1_000_000;
            if (load.paced() && due <= end) { // the end of the input cuts the last one short
                if (size == late.length) {
                    late = Arrays.copyOf(late, 2 * size);
                }
                late[size++] = Figures.now() - due;
            }
        });
    }

    @Override
    public boolean complete() {
        Main.FIGURES.add(records, sum, late, size);
        return true;
    }
}
