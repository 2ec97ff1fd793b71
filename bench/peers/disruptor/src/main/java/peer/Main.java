package peer;

import com.lmax.disruptor.BatchEventProcessor;
import com.lmax.disruptor.BatchEventProcessorBuilder;
import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Longs that one thread hands to another, or to several of which each takes its own,
 * over a ring buffer of the LMAX Disruptor.
 */
public final class Main {
    private final Map<String, String> params = new HashMap<>();
    private String name = "";

    /** Runs {@code --case NAME KEY=VALUE ...}. */
    public static void main(String[] args) throws Exception {
        Main main = new Main();
        for (int i = 0; i < args.length; i++) {
            int eq = args[i].indexOf('=');
            if (args[i].equals("--case")) {
                main.name = args[++i];
            } else if (eq > 0) {
                main.params.put(args[i].substring(0, eq), args[i].substring(eq + 1));
            }
        }
        if (!main.name.equals("handoff")) {
            System.err.println("no case " + main.name + ": there is handoff");
            System.exit(1);
        }
        main.handoff();
    }

    private long number(String key, long otherwise) {
        return Long.parseLong(params.getOrDefault(key, Long.toString(otherwise)));
    }

    private void handoff() throws Exception {
        long n = number("records", 50_000_000);
        int consumers = (int) number("consumers", 1);
        int batch = (int) number("batch", 1);
        int ring = (int) number("ring", 1 << 16);
        boolean spin = params.getOrDefault("wait", "yield").equals("spin");
        for (int i = 0; i < 3; i++) { // compiled after that
            new Handoff(consumers, batch, ring, spin).run(n / 4);
        }
        Handoff h = new Handoff(consumers, batch, ring, spin);
        long cpu = cpu();
        double seconds = h.run(n);
        cpu = cpu() - cpu;
        String settings = String.format(Locale.ROOT,
            "{\"disruptor\":\"4.0.0\",\"java\":\"%s\",\"ring\":%d,\"publish_batch\":%d,\"consumers\":%d,\"wait\":\"%s\",\"heap\":\"%dm\"}",
            System.getProperty("java.version"), ring, batch, consumers, spin ? "BusySpin" : "Yielding",
            Runtime.getRuntime().maxMemory() >> 20);
        System.out.printf(Locale.ROOT,
            "{\"case\":\"handoff\",\"metric\":\"time\",\"unit\":\"s/record\",\"value\":%e,\"records\":%d,\"check\":\"%d:%016x\",\"settings\":%s}%n",
            seconds / n, n, h.records(), h.sum(), settings);
        System.out.printf(Locale.ROOT,
            "{\"case\":\"handoff\",\"metric\":\"cpu\",\"unit\":\"s/record\",\"value\":%e,\"records\":%d}%n", cpu / 1e9 / n, n);
    }

    /** Processor time of this process, in nanoseconds. */
    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** The value of record n, of which all bits look random. */
    static long spread(long n) {
        long h = n * 0x9E3779B97F4A7C15L;
        return h ^ (h >>> 29);
    }

    /** A slot of the ring. */
    static final class Slot {
        long value;
    }

    /** Adds up what is its own: the values whose lowest bits are its index. */
    static final class Adder implements EventHandler<Slot> {
        private final long mask;
        private final long index;
        private final long last;
        final CountDownLatch done = new CountDownLatch(1);
        long sum;
        long count;

        Adder(int index, int of, long last) {
            this.index = index;
            this.mask = of - 1;
            this.last = last;
        }

        @Override
        public void onEvent(Slot slot, long sequence, boolean endOfBatch) {
            if ((slot.value & mask) == index) {
                sum += slot.value;
                count++;
            }
            if (sequence == last) {
                done.countDown();
            }
        }
    }

    /** One run over a ring of its own. */
    static final class Handoff {
        private final int consumers;
        private final int batch;
        private final int ring;
        private final boolean spin;
        private Adder[] adders;

        Handoff(int consumers, int batch, int ring, boolean spin) {
            this.consumers = consumers;
            this.batch = batch;
            this.ring = ring;
            this.spin = spin;
        }

        /** Moves n records and returns the seconds that took. */
        double run(long n) throws InterruptedException {
            WaitStrategy wait = spin ? new BusySpinWaitStrategy() : new YieldingWaitStrategy();
            RingBuffer<Slot> buffer = RingBuffer.createSingleProducer(Slot::new, ring, wait);
            adders = new Adder[consumers];
            Thread[] threads = new Thread[consumers];
            BatchEventProcessor<?>[] processors = new BatchEventProcessor<?>[consumers];
            Sequence[] gates = new Sequence[consumers];
            for (int i = 0; i < consumers; i++) {
                adders[i] = new Adder(i, consumers, n - 1);
                processors[i] = new BatchEventProcessorBuilder().build(buffer, buffer.newBarrier(), adders[i]);
                gates[i] = processors[i].getSequence();
                threads[i] = new Thread(processors[i], "consumer-" + i);
            }
            buffer.addGatingSequences(gates);
            for (Thread t : threads) {
                t.start();
            }
            long start = System.nanoTime();
            if (batch == 1) {
                single(buffer, n);
            } else {
                batches(buffer, n);
            }
            for (Adder a : adders) {
                a.done.await();
            }
            long time = System.nanoTime() - start;
            for (int i = 0; i < consumers; i++) {
                processors[i].halt();
                threads[i].join();
            }
            return time / 1e9;
        }

        private static void single(RingBuffer<Slot> buffer, long n) {
            for (long i = 0; i < n; i++) {
                long at = buffer.next();
                buffer.get(at).value = spread(i);
                buffer.publish(at);
            }
        }

        private void batches(RingBuffer<Slot> buffer, long n) {
            for (long i = 0; i < n;) {
                int size = (int) Math.min(batch, n - i);
                long last = buffer.next(size);
                long first = last - size + 1;
                for (long at = first; at <= last; at++) {
                    buffer.get(at).value = spread(i++);
                }
                buffer.publish(first, last);
            }
        }

        long sum() {
            long sum = 0;
            for (Adder a : adders) {
                sum += a.sum;
            }
            return sum;
        }

        long records() {
            long count = 0;
            for (Adder a : adders) {
                count += a.count;
            }
            return count;
        }
    }
}
