package peer;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.jet.config.EdgeConfig;
import com.hazelcast.jet.config.JobConfig;
import com.hazelcast.jet.config.ProcessingGuarantee;
import com.hazelcast.jet.pipeline.Pipeline;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Cases of Hazelcast Jet: one member in this process, with a fixed number of threads. */
public final class Main {
    /** Of the Java machine, where the figures are gathered: a job is serialized. */
    static final Figures FIGURES = new Figures();

    private final Map<String, String> params = new HashMap<>();
    private String name = "";
    private double cpuSeconds; // of the last job

    private Main() {
    }

    /** Runs {@code --case NAME KEY=VALUE ...}. */
    public static void main(String[] args) {
        Main main = new Main();
        for (int i = 0; i < args.length; i++) {
            int eq = args[i].indexOf('=');
            if (args[i].equals("--case")) {
                main.name = args[++i];
            } else if (eq > 0) {
                main.params.put(args[i].substring(0, eq), args[i].substring(eq + 1));
            }
        }
        HazelcastInstance hz = main.member();
        try {
            switch (main.name) {
                case "count" -> main.count(hz);
                case "window" -> main.window(hz);
                case "latency" -> main.latency(hz);
                default -> throw new IllegalArgumentException(
                    "no case " + main.name + ": there are count, window and latency");
            }
        } finally {
            hz.shutdown();
        }
    }

    private long number(String key, long otherwise) {
        return Long.parseLong(params.getOrDefault(key, Long.toString(otherwise)));
    }

    private int workers() {
        return (int) number("workers", 2);
    }

    private HazelcastInstance member() {
        System.setProperty("hazelcast.logging.type", "none");
        System.setProperty("hazelcast.phone.home.enabled", "false");
        System.setProperty("hazelcast.socket.bind.any", "false");
        Config config = new Config();
        config.getJetConfig().setEnabled(true).setCooperativeThreadCount(workers());
        config.getJetConfig().setDefaultEdgeConfig(new EdgeConfig().setQueueSize((int) number("queue", 1024)));
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
        config.getMetricsConfig().setEnabled(false);
        return Hazelcast.newHazelcastInstance(config);
    }

    /** A rolling count of each key: every record passes the exchange and has an output. */
    private void count(HazelcastInstance hz) {
        long n = number("records", 5_000_000);
        long keys = number("keys", 100_000);
        for (int i = 0; i < 3; i++) {
            run(hz, Pipelines.rolling(n / 4, keys, workers())); // warms up
        }
        throughput(n, run(hz, Pipelines.rolling(n, keys, workers())));
    }

    /** A count of each key in each window, as fast as possible. */
    private void window(HazelcastInstance hz) {
        long n = number("records", 5_000_000);
        long keys = number("keys", 100_000);
        double gap = 1e9 / number("event_rate", 1_000_000);
        long size = number("window_ms", 100);
        for (int i = 0; i < 3; i++) {
            run(hz, Pipelines.windowed(new Load(n / 4, gap, 0, false), keys, size, workers()));
        }
        throughput(n, run(hz, Pipelines.windowed(new Load(n, gap, 0, false), keys, size, workers())));
    }

    /** How long after a window's end, which is when its last record was due, its results are there. */
    private void latency(HazelcastInstance hz) {
        double gap = number("gap_ns", 10_000);
        long keys = number("keys", 1000);
        long size = number("window_ms", 20);
        long warm = (long) (number("warm_millis", 4000) * 1e6 / gap);
        run(hz, Pipelines.windowed(Load.paced(warm, gap, size), keys, size, workers()));
        Load load = Load.paced((long) (number("millis", 4000) * 1e6 / gap), gap, size);
        run(hz, Pipelines.windowed(load, keys, size, workers()));
        Figures f = FIGURES;
        long[] sorted = f.latencies();
        String check = f.check();
        double[] at = {0.5, 0.9, 0.99, 0.999, 0.9999, 1};
        String[] names = {"p50", "p90", "p99", "p99.9", "p99.99", "max"};
        for (int i = 0; i < at.length; i++) {
            print(names[i], "s", Figures.quantile(sorted, at[i]) / 1e9, sorted.length, check);
        }
    }

    /** Runs a job to its end and returns the seconds that took. */
    private double run(HazelcastInstance hz, Pipeline p) {
        FIGURES.reset();
        JobConfig job = new JobConfig()
            .setProcessingGuarantee(ProcessingGuarantee.NONE).setMetricsEnabled(false).setAutoScaling(false);
        long cpu = Figures.cpu();
        long start = System.nanoTime();
        hz.getJet().newJob(p, job).join();
        double seconds = (System.nanoTime() - start) / 1e9;
        cpuSeconds = (Figures.cpu() - cpu) / 1e9;
        return seconds;
    }

    private void throughput(long n, double seconds) {
        print("throughput", "records/s", n / seconds, n, FIGURES.check());
        print("cpu", "s/record", cpuSeconds / n, n, "");
    }

    private void print(String metric, String unit, double value, long records, String check) {
        System.out.printf(Locale.ROOT,
            "{\"case\":\"%s\",\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%e,\"records\":%d,\"check\":\"%s\",\"settings\":%s}%n",
            name, metric, unit, value, records, check, settings());
    }

    private String settings() {
        return String.format(Locale.ROOT,
            "{\"hazelcast\":\"5.5.0\",\"java\":\"%s\",\"members\":1,\"cooperative_threads\":%d,\"local_parallelism\":%d,"
                + "\"queue\":%d,\"guarantee\":\"NONE\",\"metrics\":false,\"heap\":\"%dm\",\"gc\":\"%s\"}",
            System.getProperty("java.version"), workers(), workers(), number("queue", 1024),
            Runtime.getRuntime().maxMemory() >> 20, Figures.collectors());
    }
}
