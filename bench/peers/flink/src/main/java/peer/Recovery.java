package peer;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * From the end of a task manager to the first output after it. Every key comes ROUNDS times; the task manager ends in
 * the second round, and the last count of each key is checked.
 */
final class Recovery {
    private static final long ROUNDS = 3;
    private static final long SLOWLY = 60_000; // milliseconds that the second round takes at least
    private static final LongAdder COUNTED = new LongAdder();
    private static final AtomicLong FIRST = new AtomicLong(); // time of the first output after the failure
    private static volatile boolean hurry; // sources go as fast as possible after the failure

    private final Params p;
    private final Out out;

    Recovery(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        try (Cluster cluster = new Cluster(out, 2, "32kb")) {
            cluster.checkpoints(false, "file://" + System.getProperty("user.dir") + "/checkpoints");
            cluster.config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
            cluster.config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
            cluster.config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
            cluster.config.set(TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE, TaskManagerOptions.TaskManagerLoadBalanceMode.SLOTS);
            cluster.start();
            StreamExecutionEnvironment env = cluster.environment(100);
            long keys = p.number("keys");
            env.fromSource(new Numbers<>(new Rounds(keys), ROUNDS * keys, 0, 10), WatermarkStrategy.noWatermarks(), "pairs", Keyed.PAIR)
                    .keyBy(t -> t.f0, Types.LONG).process(new Keyed.Count(), Keyed.PAIR)
                    .transform("verify", Types.LONG, new Verify());
            JobID id = cluster.submit(env);
            while (COUNTED.sum() < keys + keys / 100) {
                Thread.sleep(5);
            }
            double checkpoint = cluster.checkpoint(id);
            long began = System.nanoTime();
            cluster.kill(0);
            hurry = true;
            while (FIRST.get() == 0) {
                Thread.sleep(1);
            }
            cluster.await(id);
            out.figure("first-output", "s", (FIRST.get() - began) / 1e9, Totals.records(), Totals.hash(), null);
            out.figure("checkpoint", "s", checkpoint);
            out.memory();
        }
    }

    /** All keys in turn, again and again; slowly after the first round. */
    private record Rounds(long keys) implements Numbers.Maker<Tuple2<Long, Long>> {
        @Override
        public LongFunction<Tuple2<Long, Long>> open() {
            Tuple2<Long, Long> one = new Tuple2<>();
            long gap = Math.max(1, keys / Cluster.PARALLELISM / SLOWLY);
            return n -> {
                if (n >= keys && !hurry && n / Cluster.PARALLELISM % gap == 0) {
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
                one.f0 = n % keys;
                one.f1 = n;
                return one;
            };
        }
    }

    /** Adds up hashes of the keys that have come for the last time. */
    private static final class Verify extends AbstractStreamOperator<Long> implements OneInputStreamOperator<Tuple2<Long, Long>, Long>, BoundedOneInput {
        private transient boolean again;
        private transient int counted;
        private transient long records;
        private transient long sum;

        @Override
        public void open() throws Exception {
            super.open();
            again = getRuntimeContext().getTaskInfo().getAttemptNumber() > 0;
        }

        @Override
        public void processElement(StreamRecord<Tuple2<Long, Long>> element) {
            Tuple2<Long, Long> v = element.getValue();
            if (again) {
                if (v.f1 < 2) {
                    throw new IllegalStateException("key " + v.f0 + " was counted before the failure, but begins anew");
                }
                FIRST.compareAndSet(0, System.nanoTime());
                again = false;
            }
            if (v.f1 == ROUNDS) {
                records++;
                sum += Totals.mix(v.f0);
            }
            if (++counted == 1024) {
                COUNTED.add(counted);
                counted = 0;
            }
        }

        @Override
        public void endInput() {
            Totals.add(records, sum);
        }
    }
}
