package peer;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Record n is a function of n. Subtask i of p has the records whose number is i modulo p. */
final class Numbers<T> implements Source<T, Numbers.Split, Integer> {
    /** Makes records. A subtask has one of its own, which may give the same object again. */
    interface Maker<T> extends Serializable {
        LongFunction<T> open();
    }

    private final Maker<T> maker;
    private final long count;
    private final double rate; // records/s over all subtasks, 0: as fast as possible
    private final int batch; // records that a subtask makes before it looks at its mailbox again

    Numbers(Maker<T> maker, long count, double rate, int batch) {
        this.maker = maker;
        this.count = count;
        this.rate = rate;
        this.batch = batch;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<T, Split> createReader(SourceReaderContext context) {
        return new Reader(context);
    }

    @Override
    public SplitEnumerator<Split, Integer> createEnumerator(SplitEnumeratorContext<Split> context) {
        return new NoEnumerator();
    }

    @Override
    public SplitEnumerator<Split, Integer> restoreEnumerator(SplitEnumeratorContext<Split> context, Integer state) {
        return new NoEnumerator();
    }

    @Override
    public SimpleVersionedSerializer<Split> getSplitSerializer() {
        return new Longs<>() {
            @Override
            long of(Split s) {
                return s.next;
            }

            @Override
            Split from(long v) {
                return new Split(v);
            }
        };
    }

    @Override
    public SimpleVersionedSerializer<Integer> getEnumeratorCheckpointSerializer() {
        return new Longs<>() {
            @Override
            long of(Integer v) {
                return v;
            }

            @Override
            Integer from(long v) {
                return (int) v;
            }
        };
    }

    private final class Reader implements SourceReader<T, Split> {
        private final int step;
        private final LongFunction<T> make = maker.open();
        private final ScheduledExecutorService timer;
        private long next;
        private boolean began;

        Reader(SourceReaderContext context) {
            next = context.getIndexOfSubtask();
            step = context.currentParallelism();
            timer = rate > 0 ? Executors.newSingleThreadScheduledExecutor() : null;
        }

        @Override
        public void start() {}

        @Override
        public InputStatus pollNext(ReaderOutput<T> output) {
            if (!began) {
                began = true;
                Totals.begin();
            }
            long end = count;
            if (rate > 0) { // those that are due
                end = Math.min(count, 1 + (long) ((System.nanoTime() - Totals.start()) * rate / 1e9));
            }
            for (int i = 0; i < batch && next < end; i++) {
                output.collect(make.apply(next));
                next += step;
            }
            if (next >= count) {
                return InputStatus.END_OF_INPUT;
            }
            return next < end || rate == 0 ? InputStatus.MORE_AVAILABLE : InputStatus.NOTHING_AVAILABLE;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            CompletableFuture<Void> due = new CompletableFuture<>();
            if (rate == 0) {
                due.complete(null);
                return due;
            }
            long at = Totals.start() + (long) (next * 1e9 / rate);
            timer.schedule(() -> due.complete(null), Math.max(0, at - System.nanoTime()), TimeUnit.NANOSECONDS);
            return due;
        }

        @Override
        public List<Split> snapshotState(long checkpoint) {
            return List.of(new Split(next));
        }

        @Override
        public void addSplits(List<Split> splits) { // of a checkpoint: before start
            next = splits.get(0).next;
        }

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {
            if (timer != null) {
                timer.shutdownNow();
            }
        }
    }

    /** Where a subtask goes on. */
    static final class Split implements SourceSplit {
        final long next;

        Split(long next) {
            this.next = next;
        }

        @Override
        public String splitId() {
            return "numbers";
        }
    }

    /** Subtasks know what they read: there is nothing to give out. */
    private static final class NoEnumerator implements SplitEnumerator<Split, Integer> {
        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<Split> splits, int subtask) {}

        @Override
        public void addReader(int subtask) {}

        @Override
        public Integer snapshotState(long checkpoint) {
            return 0;
        }

        @Override
        public void close() {}
    }

    private abstract static class Longs<V> implements SimpleVersionedSerializer<V> {
        abstract long of(V v);

        abstract V from(long v);

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(V v) {
            return ByteBuffer.allocate(8).putLong(of(v)).array();
        }

        @Override
        public V deserialize(int version, byte[] b) {
            return from(ByteBuffer.wrap(b).getLong());
        }
    }
}
