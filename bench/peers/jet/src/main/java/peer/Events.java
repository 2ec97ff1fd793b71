package peer;

import com.hazelcast.jet.Traverser;
import com.hazelcast.jet.core.AbstractProcessor;
import com.hazelcast.jet.core.EventTimeMapper;
import com.hazelcast.jet.core.EventTimePolicy;
import com.hazelcast.jet.Traversers;

/** A source of the numbers of a load, with event times and watermarks. */
final class Events extends AbstractProcessor {
    private final Load load;
    private final EventTimeMapper<? super Long> mapper;
    private long next;
    private long step;
    private long now;
    private Traverser<Object> pending = Traversers.empty();

    Events(Load load, EventTimePolicy<? super Long> policy) {
        this.load = load;
        this.mapper = new EventTimeMapper<>(policy);
        mapper.addPartitions(1);
    }

    @Override
    protected void init(Context context) {
        next = context.globalProcessorIndex();
        step = context.totalParallelism();
    }

    @Override
    public boolean complete() {
        while (emitFromTraverser(pending)) {
            if (next >= load.count()) {
                return true;
            }
            long due = load.due(next);
            if (load.paced() && due > now) {
                now = Figures.now();
                if (due > now) {
                    pending = mapper.flatMapIdle(); // a watermark, if the stream stands still
                    return emitFromTraverser(pending) && false;
                }
            }
            pending = mapper.flatMapEvent(next, 0, due / 1_000_000);
            next += step;
        }
        return false;
    }
}
