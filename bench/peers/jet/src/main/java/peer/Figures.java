package peer;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Collectors;

/** What the sinks of a job have seen. */
final class Figures {
    private static final long OFFSET = offset();

    private long records;
    private long sum;
    private long[] late = new long[0];

    /** The time, in nanoseconds since 1970. */
    static long now() {
        return System.nanoTime() + OFFSET;
    }

    /** Processor time of this process, in nanoseconds. */
    static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long offset() {
        Instant t = Instant.now();
        return t.getEpochSecond() * 1_000_000_000L + t.getNano() - System.nanoTime();
    }

    synchronized void reset() {
        records = 0;
        sum = 0;
        late = new long[0];
    }

    synchronized void add(long moreRecords, long moreSum, long[] moreLate, int size) {
        records += moreRecords;
        sum += moreSum;
        int had = late.length;
        late = Arrays.copyOf(late, had + size);
        System.arraycopy(moreLate, 0, late, had, size);
    }

    synchronized String check() {
        return String.format("%d:%016x", records, sum);
    }

    /** How late each result was, in nanoseconds, sorted. */
    synchronized long[] latencies() {
        long[] sorted = late.clone();
        Arrays.sort(sorted);
        return sorted;
    }

    static long quantile(long[] sorted, double q) {
        return sorted[Math.min(sorted.length - 1, (int) Math.ceil(q * sorted.length) - 1)];
    }

    static String collectors() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName).collect(Collectors.joining(", "));
    }
}
