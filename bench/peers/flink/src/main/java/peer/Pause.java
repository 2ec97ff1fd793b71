package peer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/** How long a counting subtask processes nothing while its state is snapshotted. */
final class Pause {
    private static final LongAdder COUNTED = new LongAdder();
    private static final Map<Long, Long> PAUSES = new ConcurrentHashMap<>(); // by checkpoint, the longest of a subtask

    private final Params p;
    private final Out out;

    Pause(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        try (Cluster cluster = new Cluster(out, 1, "32kb")) {
            cluster.checkpoints(false, System.getProperty("user.dir").isEmpty() ? null : "file://" + System.getProperty("user.dir") + "/checkpoints");
            cluster.start();
            StreamExecutionEnvironment env = cluster.environment(100);
            long keys = p.number("keys");
            Tally.of(env.fromSource(new Numbers<>(new Loading(keys), Long.MAX_VALUE >> 1, 0, 10), WatermarkStrategy.noWatermarks(), "pairs", Keyed.PAIR)
                    .keyBy(t -> t.f0, Types.LONG).process(new Pausing(), Keyed.PAIR), t -> t.f1);
            JobID id = cluster.submit(env);
            while (COUNTED.sum() < 2 * keys) {
                Thread.sleep(5);
            }
            for (int i = 0; i < p.integer("warmups"); i++) {
                cluster.checkpoint(id);
                Thread.sleep(p.number("spacing_ms"));
            }
            PAUSES.clear();
            int n = p.integer("checkpoints");
            double[] durations = new double[n];
            for (int i = 0; i < n; i++) {
                durations[i] = cluster.checkpoint(id);
                Thread.sleep(p.number("spacing_ms"));
            }
            cluster.cancel(id);
            Histogram pauses = new Histogram();
            PAUSES.values().forEach(pauses::record);
            out.figure("pause", "s", Out.median(PAUSES.values().stream().mapToDouble(v -> v / 1e9).toArray()), n, null, pauses.percentiles());
            out.figure("duration", "s", Out.median(durations), n, null, null);
            out.memory();
        }
    }

    /** All keys in turn once, then keys spread over all of them. */
    private record Loading(long keys) implements Numbers.Maker<Tuple2<Long, Long>> {
        @Override
        public LongFunction<Tuple2<Long, Long>> open() {
            Tuple2<Long, Long> one = new Tuple2<>();
            return n -> {
                one.f0 = n < keys ? n : Keyed.key(n, keys);
                one.f1 = n;
                return one;
            };
        }
    }

    /** Counts, and notes the time from the snapshot's begin until the next record. */
    private static final class Pausing extends Keyed.Count implements CheckpointedFunction {
        private transient long since;
        private transient long checkpoint;
        private transient int counted;

        @Override
        public void initializeState(FunctionInitializationContext context) {}

        @Override
        public void snapshotState(FunctionSnapshotContext context) {
            checkpoint = context.getCheckpointId();
            since = System.nanoTime();
        }

        @Override
        public void processElement(Tuple2<Long, Long> v, Context context, Collector<Tuple2<Long, Long>> collector) throws Exception {
            if (since != 0) {
                PAUSES.merge(checkpoint, System.nanoTime() - since, Math::max);
                since = 0;
            }
            if (++counted == 1024) {
                COUNTED.add(counted);
                counted = 0;
            }
            super.processElement(v, context, collector);
        }
    }
}
