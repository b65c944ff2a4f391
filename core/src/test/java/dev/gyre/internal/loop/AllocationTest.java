package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/// Counts bytes, not time: what a thread allocates is exact, whatever else the machine does.
///
/// Interpreted code allocates where compiled code does not (a native call boxes its arguments, for
/// one), and when the JIT gets round to it is its own affair. So rounds are run in windows until one
/// allocates nothing; code that really allocates never has such a window. In the tests calls into the
/// kernel are compiled apart, or the JDK's part of them would allocate (`docs/adr/0002`).
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 10_000;
    private static final int WINDOWS = 100;

    /// Left for what the JVM itself allocates on a thread now and then; a byte a round would be more.
    private static final long SLACK_BYTES = 4_096;

    private static void assertReachesZero(
            String what, Runnable round, LongSupplier allocatedBytes) {
        long least = Long.MAX_VALUE;
        for (int window = 0; window < WINDOWS && least > SLACK_BYTES; window++) {
            long before = allocatedBytes.getAsLong();
            for (int i = 0; i < ROUNDS; i++) {
                round.run();
            }
            least = Math.min(least, allocatedBytes.getAsLong() - before);
        }
        assertThat(least)
                .as("bytes allocated by %s in the best window of %d rounds", what, ROUNDS)
                .isLessThanOrEqualTo(SLACK_BYTES);
    }

    @Test
    @Clause("Q-1")
    void ticksTasksAndMicrotasks_inSteadyState_allocateNothing() {
        try (EventLoop loop = EventLoop.open()) {
            Runnable microtask = () -> {};
            Runnable task = () -> loop.microtask(microtask);
            Runnable deferred = () -> {};
            assertReachesZero(
                    "a tick with a task of each kind",
                    () -> {
                        loop.submit(task);
                        loop.submitPriority(task);
                        loop.defer(deferred);
                        loop.runSome();
                    },
                    THREADS::getCurrentThreadAllocatedBytes);
        }
    }

    @Test
    @Clause({"W-5", "W-7"})
    void watchers_inSteadyState_allocateNothing() {
        try (EventLoop loop = EventLoop.open();
                Pipe pipe = Pipe.open()) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1);
            WatchSpec again =
                    WatchSpec.reading(watcher -> pipe.reader().read(buffer.clear())).oneShot();
            Watcher watcher = loop.watch(pipe.reader(), again);
            assertReachesZero(
                    "an event that is read, and its watcher armed again",
                    () -> {
                        pipe.writer().write(buffer.clear());
                        watcher.modify(again);
                        loop.runSome();
                    },
                    THREADS::getCurrentThreadAllocatedBytes);
        }
    }

    @Test
    @Clause({"T-4", "T-5"})
    void timer_usedAgainAndAgain_allocatesNothing() {
        try (EventLoop loop = EventLoop.open()) {
            Timer timer = loop.after(Duration.ofHours(1), fired -> {});
            Duration soon = Duration.ZERO;
            Duration later = Duration.ofSeconds(30);
            assertReachesZero(
                    "a timer that is rescheduled, cancelled and fired",
                    () -> {
                        timer.reschedule(later);
                        timer.cancel();
                        timer.reschedule(soon);
                        loop.runSome();
                    },
                    THREADS::getCurrentThreadAllocatedBytes);
        }
    }

    @Test
    @Clause("Q-6")
    void wakeUps_inSteadyState_allocateNothingOnEitherSide() throws InterruptedException {
        try (EventLoop loop = EventLoop.open()) {
            Thread runner = Thread.ofPlatform().start(loop::run);
            AtomicInteger ran = new AtomicInteger();
            Runnable task = ran::incrementAndGet;
            Runnable wakeUp =
                    () -> {
                        int before = ran.get();
                        loop.submit(task);
                        while (ran.get() == before) {
                            Thread.onSpinWait();
                        }
                    };
            assertReachesZero("the producer", wakeUp, THREADS::getCurrentThreadAllocatedBytes);
            assertReachesZero(
                    "the loop", wakeUp, () -> THREADS.getThreadAllocatedBytes(runner.threadId()));
            loop.stop();
            runner.join();
        }
    }
}
