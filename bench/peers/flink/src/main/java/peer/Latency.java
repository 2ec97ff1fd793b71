package peer;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Source, rebalance, sink at a fixed rate: the time from when a record was due until the sink has it. */
final class Latency {
    private static final Histogram TIMES = new Histogram();

    private final Params p;
    private final Out out;

    Latency(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        try (Cluster cluster = new Cluster(out, 1, "32kb")) {
            cluster.start();
            int size = p.integer("record");
            long rate = p.number("rate");
            long warm = rate * p.number("warm_seconds");
            long n = warm + rate * p.number("seconds");
            StreamExecutionEnvironment env = cluster.environment(p.number("flush_ms"));
            PayloadType type = new PayloadType(size);
            env.fromSource(new Numbers<Payload>(() -> {
                Payload one = new Payload(size);
                return v -> {
                    one.number = v;
                    return one;
                };
            }, n, rate, 100), WatermarkStrategy.noWatermarks(), "payloads", type)
                    .rebalance().transform("measure", Types.LONG, new Measure(rate, warm));
            Totals.reset();
            cluster.run(env);
            String check = Totals.hash();
            for (double q : new double[] {50, 99, 99.9, 99.99}) {
                String name = "p" + (q == Math.rint(q) ? String.valueOf((long) q) : String.valueOf(q));
                out.figure(name, "s", TIMES.quantile(q / 100), Totals.records(), check, q == 50 ? TIMES.percentiles() : null);
            }
            out.memory();
        }
    }

    private static final class Measure extends AbstractStreamOperator<Long> implements OneInputStreamOperator<Payload, Long>, BoundedOneInput {
        private final long rate;
        private final long warm;
        private transient Histogram times;
        private transient long records;
        private transient long sum;

        Measure(long rate, long warm) {
            this.rate = rate;
            this.warm = warm;
        }

        @Override
        public void open() throws Exception {
            super.open();
            times = new Histogram();
        }

        @Override
        public void processElement(StreamRecord<Payload> element) {
            long n = element.getValue().number;
            records++;
            sum += Totals.mix(n);
            if (n >= warm) {
                times.record(System.nanoTime() - Totals.start() - (long) (n * 1e9 / rate));
            }
        }

        @Override
        public void endInput() {
            TIMES.merge(times);
            Totals.add(records, sum);
        }
    }
}
