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

/// What it costs to hand a task to the loop, and to have it run.
///
/// **Bursts.** A producer submits 10 000 tasks and waits until the last has run; only then comes
/// its next burst. So nobody is ever refused, though a producer is faster than the consumer: 40 000
/// is the most that can wait, below Gyre's high-water mark, and the unbounded peers are not
/// rewarded for queueing without end. The time covers submission *and* execution, whichever is
/// slower, and the one wake-up at the start of a burst. That is the figure that counts: a queue
/// that is quick to take tasks and slow to give them out gains nothing by it.
///
/// **The producer's side alone** ([#producer]) stops the clock when the last of the 10 000 is
/// accepted and lets the queue run empty before the next burst, unmeasured. This is what the
/// submitting thread pays while the consumer is at work on the same cache lines.
///
/// **The task** is one object a producer, made beforehand. It adds one to a field that only the
/// peer's thread touches, so what is measured is the way to it.
///
/// **How to read it.** Operations are tasks, of all producers together: 1 000 divided by tasks/µs
/// is ns/task. Four producers and a consumer do not fit on two processors: such a figure compares
/// peers, and says little about one of them.
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SubmitBenchmark {
    static final int BURST = 10_000;

    /// Whom the tasks go to.
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

    /// Who submits them.
    @State(Scope.Thread)
    public static class Producer {
        private final Counter counter = new Counter();
        private final Arrival last = new Arrival();
        private boolean hasOwnProcessor;
        private long submitted;

        @Setup
        public void look(BenchmarkParams params) {
            // One is the consumer's.
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

    /// A producer that lets the queue run empty after each burst, outside the measured time.
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
