package dev.gyre.bench;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.infra.BenchmarkParams;

import java.util.concurrent.TimeUnit;

/// Measures submitting a task to the loop and running it.
///
/// **Bursts.** A producer submits 10 000 tasks and waits until the last one has run before its next
/// burst. So no submission is rejected, although a producer is faster than the consumer: at most
/// 40 000 tasks wait, below Gyre's high-water mark, and unbounded queues gain nothing by growing.
/// The time covers submission *and* execution, whichever is slower, and one wake-up per burst. A
/// queue that accepts tasks fast and hands them out slowly gains nothing.
///
/// **The producer's side alone** ([#producer]) stops the clock when the last of the 10 000 tasks is
/// accepted. The queue drains before the next burst, unmeasured. This is the cost for the
/// submitting thread while the consumer works on the same cache lines.
///
/// **The task** is one object per producer, created in advance. It increments a field that only the
/// consumer's thread uses.
///
/// **Reading the result.** Operations are tasks of all producers together: 1 000 divided by
/// tasks/µs is ns per task. Four producers and a consumer exceed two processors: such a result
/// compares implementations only.
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SubmitBenchmark {
    static final int BURST = 10_000;

    /// The consumer of the tasks.
    @State(Scope.Benchmark)
    public static class Consumer {
        @Param({Peer.GYRE, Peer.NETTY_EPOLL, Peer.NETTY_URING, Peer.JCTOOLS, Peer.EXECUTOR})
        String peer = Peer.GYRE;

        private @Nullable Peer opened;

        @Setup
        public void open() {
            opened = Peer.open(peer);
        }

        Peer opened() {
            Peer current = opened;
            if (current == null) {
                throw new IllegalStateException("not set up");
            }
            return current;
        }

        @TearDown
        public void close() {
            opened().close();
        }
    }

    /// The producer of the tasks.
    @State(Scope.Thread)
    public static class Producer {
        private final Counter counter = new Counter();
        private final Arrival last = new Arrival();
        private boolean hasOwnProcessor;
        private long submitted;

        @Setup
        public void look(BenchmarkParams params) {
            // One processor is for the consumer.
            hasOwnProcessor = params.getThreads() < Runtime.getRuntime().availableProcessors();
        }

        void submit(Peer peer, int tasks) {
            for (int i = 0; i < tasks; i++) {
                peer.execute(counter);
            }
            submitted += tasks;
        }

        void drain(Peer peer) {
            if (hasOwnProcessor) {
                last.executeAndSpin(peer);
            } else {
                last.executeAndPark(peer);
            }
        }

        @TearDown
        public void check() {
            if (counter.ran != submitted) {
                throw new IllegalStateException(
                        "submitted " + submitted + " tasks, but " + counter.ran + " ran");
            }
        }
    }

    /// A producer that drains the queue after each burst, outside the measured time.
    @State(Scope.Thread)
    public static class DrainingProducer extends Producer {
        @TearDown(Level.Invocation)
        public void drain(Consumer consumer) {
            drain(consumer.opened());
        }
    }

    private static final class Counter implements Runnable {
        private long ran;

        @Override
        public void run() {
            ran++;
        }
    }

    @Benchmark
    @Threads(1)
    @OperationsPerInvocation(BURST)
    public void oneProducer(Producer producer, Consumer consumer) {
        producer.submit(consumer.opened(), BURST - 1);
        producer.drain(consumer.opened());
    }

    @Benchmark
    @Threads(4)
    @OperationsPerInvocation(BURST)
    public void fourProducers(Producer producer, Consumer consumer) {
        producer.submit(consumer.opened(), BURST - 1);
        producer.drain(consumer.opened());
    }

    @Benchmark
    @Threads(1)
    @OperationsPerInvocation(BURST)
    public void producer(DrainingProducer producer, Consumer consumer) {
        producer.submit(consumer.opened(), BURST);
    }
}
