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

/// Measures operations on a timer while many others are outstanding, as with idle timeouts: one per
/// connection, rescheduled on activity, and rarely expiring.
///
/// | benchmark | operation | timer |
/// |---|---|---|
/// | [#scheduleAndCancel] | schedules one to two minutes ahead, and cancels | a new one each time |
/// | [#reuseAndCancel] | the same | a reused one, if supported |
/// | [#rescheduleAny] | reschedules to two minutes ahead | any, in pseudo-random order |
/// | [#rescheduleOne] | the same | always the same one |
///
/// **Thread.** The thread that owns the timers, ten thousand operations per tick. The tick adds
/// some hundredths of a nanosecond per operation.
///
/// **Memory.** With a million timers [#rescheduleAny] causes a cache miss each time. Timers are
/// shuffled after a collection, because a moving collector would lay them out in their order of
/// use. The row `bare` shows the cost of the misses alone.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TimerBenchmark {
    static final int BATCH = 10_000;

    /// The timers and their operations.
    @State(Scope.Thread)
    public static class Outstanding {
        private static final long SEED = 20_261_115;

        @Param({Timers.GYRE, Timers.NETTY_LOOP, Timers.NETTY_WHEEL, Timers.EXECUTOR, Timers.AGRONA})
        String peer = Timers.GYRE;

        @Param({"1000", "100000", "1000000"})
        int count;

        // Created in advance: a bound method reference in a benchmark would be an object each time.
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
