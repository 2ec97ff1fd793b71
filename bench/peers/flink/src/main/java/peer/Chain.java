package peer;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Source, map, rebalance, map, sink. */
final class Chain {
    private final Params p;
    private final Out out;

    Chain(Params p) {
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
        Tally.of(env.fromSource(new Numbers<Long>(() -> v -> v, n, 0, 100), WatermarkStrategy.noWatermarks(), "numbers", Types.LONG)
                .map(v -> v + 1, Types.LONG).rebalance().map(v -> v * 3, Types.LONG), Totals::mix);
        Totals.reset();
        cluster.run(env);
    }
}
