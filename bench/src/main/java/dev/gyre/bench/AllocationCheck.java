package dev.gyre.bench;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;

/// Counts the bytes that a warm loop allocates in a steady state, on the loop thread and on the
/// producer's thread. The target is zero: for a tick, a task's slot and a wake-up. The caller's
/// `Runnable` is created in advance.
///
/// The JIT determines how long the warm-up takes: before, native calls box their arguments. So a
/// measurement is repeated until one finds at most [#NOISE_BYTES], up to [#MAX_ATTEMPTS] times. A
/// real allocation would occur in each of them, with 16 bytes per operation or more.
public final class AllocationCheck {
    /// The max bytes that the measurement itself, or the JVM, may allocate in a whole measurement.
    /// One object per operation would be some hundred times as much, even in the shortest one.
    public static final long NOISE_BYTES = 4_096;

    private static final int MAX_ATTEMPTS = 10;
    private static final int TASKS = 1_000_000;
    private static final int TASKS_AT_ONCE = 1_000;
    private static final int TICKS = 1_000_000;
    private static final int WAKEUPS = 50_000;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocationCheck() {}

    /// The result of one measurement.
    ///
    /// @param loopBytes allocated by the loop thread
    /// @param callerBytes allocated by the producer; zero if that is the loop thread
    public record Allocation(String what, long operations, long loopBytes, long callerBytes) {
        public long bytes() {
            return loopBytes + callerBytes;
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%-12s %,10d of them   loop thread %,d B   caller %,d B   %.4f B each",
                    what,
                    operations,
                    loopBytes,
                    callerBytes,
                    (double) bytes() / operations);
        }
    }

    /// Exits with 1 if anything was allocated.
    public static void main(String[] args) {
        boolean clean = true;
        for (Allocation allocation : List.of(ofTasks(), ofTicks(), ofWakeups())) {
            System.out.println(allocation);
            clean &= allocation.bytes() <= NOISE_BYTES;
        }
        System.exit(clean ? 0 : 1);
    }

    /// Measures a million tasks, a thousand at a time.
    public static Allocation ofTasks() {
        try (var peer = new GyrePeer()) {
            var arrival = new Arrival();
            Runnable nothing = () -> {};
            return steady(
                    "tasks",
                    TASKS,
                    peer.thread,
                    () -> {
                        for (int i = 0; i < TASKS; i += TASKS_AT_ONCE) {
                            for (int j = 1; j < TASKS_AT_ONCE; j++) {
                                peer.execute(nothing);
                            }
                            arrival.executeAndPark(peer);
                        }
                    });
        }
    }

    /// Measures a million ticks, each with one deferred callback.
    public static Allocation ofTicks() {
        var loop = new TickBenchmark.DeferringLoop();
        try {
            return steady(
                    "ticks",
                    TICKS,
                    Thread.currentThread(),
                    () -> {
                        for (int i = 0; i < TICKS; i += TickBenchmark.TICKS) {
                            loop.run();
                        }
                    });
        } finally {
            loop.close();
        }
    }

    /// Measures fifty thousand wake-ups of a sleeping loop.
    public static Allocation ofWakeups() {
        var sleeper = new WakeBenchmark.Sleeper();
        try {
            return steady(
                    "wake-ups",
                    WAKEUPS,
                    sleeper.thread(),
                    () -> {
                        for (int i = 0; i < WAKEUPS; i++) {
                            sleeper.wake();
                        }
                    });
        } finally {
            sleeper.close();
        }
    }

    private static Allocation steady(String what, long operations, Thread loop, Runnable work) {
        Allocation found;
        int attempts = 0;
        do {
            found = measure(what, operations, loop, work);
        } while (found.bytes() > NOISE_BYTES && ++attempts < MAX_ATTEMPTS);
        return found;
    }

    private static Allocation measure(String what, long operations, Thread loop, Runnable work) {
        Thread caller = Thread.currentThread();
        long loopBefore = THREADS.getThreadAllocatedBytes(loop.threadId());
        long callerBefore = THREADS.getThreadAllocatedBytes(caller.threadId());
        work.run();
        long callerBytes = THREADS.getThreadAllocatedBytes(caller.threadId()) - callerBefore;
        long loopBytes = THREADS.getThreadAllocatedBytes(loop.threadId()) - loopBefore;
        return new Allocation(what, operations, loopBytes, caller.equals(loop) ? 0 : callerBytes);
    }
}
