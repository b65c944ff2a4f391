package dev.gyre.bench.timers;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.util.Random;
import java.util.concurrent.TimeUnit;

/// What it costs to handle a timer while many others are outstanding, as idle timeouts are: one a
/// connection, put off whenever it is active, and hardly ever expiring.
///
/// | benchmark | what | which timer |
/// |---|---|---|
/// | [#scheduleAndCancel] | schedules for one to two minutes ahead, and cancels | a new one each time |
/// | [#reuseAndCancel] | the same | one that is kept, where a peer can |
/// | [#rescheduleAny] | puts off to two minutes ahead | any, in pseudo-random order |
/// | [#rescheduleOne] | the same | always the same one |
///
/// **Where.** On the thread that the timers belong to, ten thousand operations in a turn of the loop.
/// The turn itself is in the figure, some hundredths of a nanosecond an operation.
///
/// **Memory.** With a million timers [#rescheduleAny] meets an object that has left the caches, every
/// time. They are shuffled after a collection, because a collector that moves them would lay them out
/// in the order in which they are met. What that costs by itself is the row `bare`.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TimerBenchmark {
    static final int BATCH = 10_000;

    /// The timers, and what is done with them.
    @State(Scope.Thread)
    public static class Outstanding {
        private static final long SEED = 20_261_115;

        @Param({Timers.GYRE, Timers.NETTY_LOOP, Timers.NETTY_WHEEL, Timers.EXECUTOR, Timers.AGRONA})
        String peer = Timers.GYRE;

        @Param({"1000", "100000", "1000000"})
        int count;

        // Made beforehand: a bound method reference in a benchmark would be an object each time.
        private final Runnable scheduleAndCancel = this::scheduleAndCancel;
        private final Runnable reuseAndCancel = this::reuseAndCancel;
        private final Runnable replaceAny = this::replaceAny;
        private final Runnable rescheduleAny = this::rescheduleAny;
        private final Runnable rescheduleOne = this::rescheduleOne;
        private @Nullable Timers timers;
        private int next;
        private boolean done;

        @Setup
        public void open() {
            Timers opened = Timers.open(peer);
            opened.fill(Delays.nanos(count, SEED));
            System.gc();
            opened.shuffle(new Random(SEED));
            timers = opened;
        }

        private Timers timers() {
            Timers current = timers;
            if (current == null) {
                throw new IllegalStateException("not set up");
            }
            return current;
        }

        private void turn(Runnable batch) {
            done = false;
            timers().turn(batch);
            if (!done) {
                throw new IllegalStateException("a turn that left the work undone");
            }
        }

        private void scheduleAndCancel() {
            Timers here = timers();
            for (int i = 0; i < BATCH; i++) {
                here.scheduleAndCancel(i & (Delays.COUNT - 1));
            }
            done = true;
        }

        private void reuseAndCancel() {
            Timers here = timers();
            for (int i = 0; i < BATCH; i++) {
                here.reuseAndCancel(i & (Delays.COUNT - 1));
            }
            done = true;
        }

        private void replaceAny() {
            Timers here = timers();
            int which = next;
            for (int i = 0; i < BATCH; i++) {
                here.replace(which, i & (Delays.COUNT - 1));
                which = which + 1 == count ? 0 : which + 1;
            }
            next = which;
            done = true;
        }

        private void rescheduleAny() {
            Timers here = timers();
            int which = next;
            for (int i = 0; i < BATCH; i++) {
                here.reschedule(which);
                which = which + 1 == count ? 0 : which + 1;
            }
            next = which;
            done = true;
        }

        private void rescheduleOne() {
            Timers here = timers();
            for (int i = 0; i < BATCH; i++) {
                here.reschedule(0);
            }
            done = true;
        }

        @TearDown
        public void close() {
            timers().close();
            Expired.requireNone();
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void scheduleAndCancel(Outstanding outstanding) {
        outstanding.turn(outstanding.scheduleAndCancel);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void reuseAndCancel(Outstanding outstanding) {
        outstanding.turn(outstanding.reuseAndCancel);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void replaceAny(Outstanding outstanding) {
        outstanding.turn(outstanding.replaceAny);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void rescheduleAny(Outstanding outstanding) {
        outstanding.turn(outstanding.rescheduleAny);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void rescheduleOne(Outstanding outstanding) {
        outstanding.turn(outstanding.rescheduleOne);
    }
}
