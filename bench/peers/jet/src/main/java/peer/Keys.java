package peer;

import com.hazelcast.jet.core.AbstractProcessor;

/** A source of keys: each of its processors has its share of the records. */
final class Keys extends AbstractProcessor {
    private final long count;
    private final long keys;
    private long next;
    private long step;
    private Long pending;

    Keys(long count, long keys) {
        this.count = count;
        this.keys = keys;
    }

    @Override
    protected void init(Context context) {
        next = context.globalProcessorIndex();
        step = context.totalParallelism();
    }

    @Override
    public boolean complete() {
        while (next < count) {
            if (pending == null) {
                pending = Load.key(next, keys);
            }
            if (!tryEmit(pending)) {
                return false;
            }
            pending = null;
            next += step;
        }
        return true;
    }
}
