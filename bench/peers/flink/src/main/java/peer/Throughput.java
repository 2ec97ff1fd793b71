package peer;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Source, rebalance, sink: what the exchange can do. */
final class Throughput {
    private final Params p;
    private final Out out;

    Throughput(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        try (Cluster cluster = new Cluster(out, 1, "32kb")) {
            cluster.start();
            long n = p.number("records");
            for (int i = 0; i < p.integer("warmups"); i++) {
                job(cluster, n, i % 2 == 0 ? 100 : 1);
            }
            for (long flush : new long[] {100, 1}) {
                job(cluster, n, flush);
                out.figure("flush-" + flush + "ms", "records/s", n / Totals.seconds(), Totals.records(), Totals.hash(), null);
                if (flush == 100) {
                    out.figure("cpu", "s/record", Totals.cpu() / n, n, null, null);
                }
            }
            out.memory();
        }
    }

    private void job(Cluster cluster, long n, long flush) throws Exception {
        StreamExecutionEnvironment env = cluster.environment(flush);
        int size = p.integer("record");
        if (size == 8) {
            Tally.of(env.fromSource(new Numbers<Long>(() -> v -> v, n, 0, 100), WatermarkStrategy.noWatermarks(), "numbers", Types.LONG)
                    .rebalance(), Totals::mix);
        } else {
            Tally.of(env.fromSource(payloads(size, n), WatermarkStrategy.noWatermarks(), "payloads", new PayloadType(size))
                    .rebalance(), v -> Totals.mix(v.number));
        }
        Totals.reset();
        cluster.run(env);
    }

    static Numbers<Payload> payloads(int size, long n) {
        return new Numbers<>(() -> {
            Payload one = new Payload(size);
            return v -> {
                one.number = v;
                return one;
            };
        }, n, 0, 100);
    }
}
