package peer;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** Prints figures, and measures this process. */
final class Out {
    private final String name;
    private final Map<String, String> settings = new TreeMap<>();

    Out(String name) {
        this.name = name;
        setting("java", Runtime.version().toString());
        setting("java_options", String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(o -> !o.startsWith("--add-opens")).toList()));
    }

    void setting(String key, Object value) {
        settings.put(key, String.valueOf(value));
    }

    void figure(String metric, String unit, double value) {
        figure(metric, unit, value, 0, null, null);
    }

    void figure(String metric, String unit, double value, long records, String check, String percentiles) {
        StringBuilder b = new StringBuilder("{\"case\":\"" + name + "\",\"metric\":\"" + metric + "\",\"unit\":\"" + unit
                + "\",\"value\":" + value + ",\"records\":" + records);
        if (check != null) {
            b.append(",\"check\":\"").append(check).append('"');
        }
        if (percentiles != null) {
            b.append(",\"percentiles\":").append(percentiles);
        }
        b.append(",\"settings\":{");
        String separator = "";
        for (Map.Entry<String, String> e : settings.entrySet()) {
            b.append(separator).append('"').append(e.getKey()).append("\":\"").append(e.getValue().replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
            separator = ",";
        }
        settings.clear(); // once is enough
        System.out.println(b.append("}}"));
    }

    /** The most memory that this process has had. */
    void memory() throws Exception {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmHWM:")) {
                figure("rss", "B", 1024.0 * Long.parseLong(line.replaceAll("[^0-9]", "")));
            }
        }
    }

    /** Processor time of this process, in seconds. */
    static double cpu() {
        var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return os.getProcessCpuTime() / 1e9;
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}
