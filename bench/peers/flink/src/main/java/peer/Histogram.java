package peer;

/** Counts times in nanoseconds, in buckets of at most 1/64 of their value. */
final class Histogram {
    private static final int BITS = 6;
    private final long[] buckets = new long[(64 - BITS) << BITS];
    private long count;
    private long max;

    void record(long v) {
        v = Math.max(0, v);
        buckets[index(v)]++;
        count++;
        max = Math.max(max, v);
    }

    private static int index(long v) {
        int shift = Math.max(0, 63 - Long.numberOfLeadingZeros(v | 1) - BITS);
        return (shift << BITS) + (int) (v >>> shift);
    }

    private static long highest(int index) {
        int shift = Math.max(0, (index >> BITS) - 1);
        return (((long) index - ((long) shift << BITS) + 1) << shift) - 1;
    }

    synchronized void merge(Histogram other) {
        for (int i = 0; i < buckets.length; i++) {
            buckets[i] += other.buckets[i];
        }
        count += other.count;
        max = Math.max(max, other.max);
    }

    long count() {
        return count;
    }

    /** In seconds. */
    double quantile(double q) {
        long rank = Math.max(1, (long) Math.ceil(q * count));
        long seen = 0;
        for (int i = 0; i < buckets.length; i++) {
            seen += buckets[i];
            if (seen >= rank) {
                return Math.min(max, highest(i)) / 1e9;
            }
        }
        return max / 1e9;
    }

    String percentiles() {
        return "{\"p50\":" + quantile(0.5) + ",\"p90\":" + quantile(0.9) + ",\"p99\":" + quantile(0.99) + ",\"p99.9\":" + quantile(0.999)
                + ",\"max\":" + max / 1e9 + "}";
    }
}
