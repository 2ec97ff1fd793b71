package peer;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What the subtasks of the job that runs have done: they are all in this process. */
final class Totals {
    private static final AtomicLong START = new AtomicLong();
    private static final AtomicLong END = new AtomicLong();
    private static volatile double cpuStart;
    private static volatile double cpuEnd;
    private static final LongAdder RECORDS = new LongAdder();
    private static final LongAdder HASH = new LongAdder();

    private Totals() {}

    /** Forgets the job before. */
    static void reset() {
        START.set(0);
        END.set(0);
        RECORDS.reset();
        HASH.reset();
    }

    /** A source is about to emit its first record. */
    static void begin() {
        if (START.get() == 0 && START.compareAndSet(0, System.nanoTime())) {
            cpuStart = Out.cpu();
        }
    }

    static long start() {
        return START.get();
    }

    /** A sink is at its end. */
    static synchronized void add(long records, long hash) {
        cpuEnd = Out.cpu();
        RECORDS.add(records);
        HASH.add(hash);
        END.accumulateAndGet(System.nanoTime(), Math::max);
    }

    static double seconds() {
        return (END.get() - START.get()) / 1e9;
    }

    /** Processor time from the first record to the end of the last sink. */
    static double cpu() {
        return cpuEnd - cpuStart;
    }

    static long records() {
        return RECORDS.sum();
    }

    static String hash() {
        return Long.toHexString(HASH.sum());
    }

    /** A hash of a number: the same function is on the other side. */
    static long mix(long x) {
        x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
        x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
        return x ^ (x >>> 31);
    }
}
