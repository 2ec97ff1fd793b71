package peer;

import java.io.Serializable;

/**
 * Records 0, 1 ... count-1. Record n has the event time start + n * gap, in nanoseconds;
 * paced, it comes when the clock says that, however late earlier ones are (an open loop).
 */
record Load(long count, double gap, long start, boolean paced) implements Serializable {
    /** A load that begins soon, with a window. */
    static Load paced(long count, double gap, long windowMillis) {
        long soon = System.currentTimeMillis() + 500;
        return new Load(count, gap, (soon / windowMillis + 1) * windowMillis * 1_000_000, true);
    }

    /** When record n is due, in nanoseconds. */
    long due(long n) {
        return start + (long) (n * gap);
    }

    /** The value of a number, of which all bits look random. */
    static long spread(long n) {
        long h = n * 0x9E3779B97F4A7C15L;
        return h ^ (h >>> 29);
    }

    /** The key of record n. */
    static long key(long n, long keys) {
        return Long.remainderUnsigned(spread(n), keys);
    }

    /** The part of the check that an output of a count is. */
    static long checked(long key, long count) {
        return spread((key << 32) ^ count);
    }
}
