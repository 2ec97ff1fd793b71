package peer;

import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Source, rebalance, map, rebalance, slow sink: how long checkpoints take meanwhile. */
final class Pressure {
    private static final LongAdder EMITTED = new LongAdder();

    private final Params p;
    private final Out out;

    Pressure(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        try (Cluster cluster = new Cluster(out, 1, p.text("buffer"))) {
            cluster.checkpoints(p.text("mode").equals("unaligned"), null);
            cluster.start();
            StreamExecutionEnvironment env = cluster.environment(100);
            int size = p.integer("record");
            PayloadType type = new PayloadType(size);
            env.fromSource(new Numbers<Payload>(() -> {
                Payload one = new Payload(size);
                return v -> {
                    one.number = v;
                    EMITTED.increment();
                    return one;
                };
            }, Long.MAX_VALUE >> 1, 0, 1), WatermarkStrategy.noWatermarks(), "payloads", type)
                    .rebalance().map(v -> v, type).rebalance()
                    .transform("slow", Types.LONG, new Slow(p.number("sink_us") * 1000, p.text("spins").equals("true")));
            JobID id = cluster.submit(env);
            cluster.awaitRunning(id);
            awaitPressure();
            measure(cluster, id);
            cluster.cancel(id);
            out.memory();
        }
    }

    private void measure(Cluster cluster, JobID id) throws Exception {
        for (int i = 0; i < p.integer("warmups"); i++) {
            cluster.checkpoint(id);
        }
        Histogram times = new Histogram();
        int n = p.integer("checkpoints");
        double[] list = new double[n];
        for (int i = 0; i < n; i++) {
            list[i] = cluster.checkpoint(id);
            times.record((long) (list[i] * 1e9));
        }
        out.figure("duration", "s", Out.median(list), n, null, times.percentiles());
    }

    /** Waits until the sources emit little more than the sinks take. */
    private void awaitPressure() throws Exception {
        double most = 1.2 * Cluster.PARALLELISM * 1e6 / p.number("sink_us"); // records/s of the sinks
        for (long last = -1; ; ) {
            long before = EMITTED.sum();
            Thread.sleep(1000);
            long now = EMITTED.sum();
            if (before > 0 && last > 0 && now - before < most && now > before - 1 && last == 1) {
                return;
            }
            last = before > 0 && now - before < most ? 1 : 0;
        }
    }

    /** A sink that takes some time for a record. */
    private static final class Slow extends AbstractStreamOperator<Long> implements OneInputStreamOperator<Payload, Long> {
        private final long nanos;
        private final boolean spins;

        Slow(long nanos, boolean spins) {
            this.nanos = nanos;
            this.spins = spins;
        }

        @Override
        public void processElement(StreamRecord<Payload> element) throws Exception {
            if (!spins) {
                Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
                return;
            }
            for (long end = System.nanoTime() + nanos; System.nanoTime() - end < 0; ) {
                Thread.onSpinWait();
            }
        }
    }
}
