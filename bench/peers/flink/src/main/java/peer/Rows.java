package peer;

/** The hash of a table, row by row: see the package comment of bench/nexmark. */
final class Rows {
    private static final long BASIS = 0x6E65786D61726B21L;
    private static final long PRIME = 0x9E3779B97F4A7C15L;

    private final boolean brief; // texts count by their length alone
    private long hash;
    long count;
    long sum;

    Rows(boolean brief) {
        this.brief = brief;
    }

    Rows begin() {
        hash = BASIS;
        return this;
    }

    Rows number(long v) {
        long h = (hash ^ v) * PRIME;
        hash = h ^ (h >>> 32);
        return this;
    }

    Rows text(String s) {
        int n = s.length();
        number(n);
        if (brief) {
            return this;
        }
        for (int i = 0; i < n; i += 8) {
            long word = 0;
            for (int j = Math.min(n, i + 8) - 1; j >= i; j--) {
                word = word << 8 | s.charAt(j);
            }
            number(word);
        }
        return this;
    }

    void add() {
        count++;
        sum += hash;
    }

    void remove() {
        count--;
        sum -= hash;
    }
}
