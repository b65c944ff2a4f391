package dev.gyre.bench;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;

/// Counts the bytes that a warm loop allocates in a steady state, on the loop thread and on the
/// thread that feeds it. There should be none: not for a tick, not for a task's slot, not for a
/// wake-up. What the caller's own `Runnable` costs is the caller's; here it is made beforehand.
///
/// How soon it is warm is up to the JIT: until then calls into the kernel box their arguments. So a
/// measurement is repeated until one finds no more than [#NOISE_BYTES], and given up after
/// [#MOST_ATTEMPTS]. An allocation that belongs to the work would be in each of them, 16 bytes an
/// operation or more.
public final class AllocationCheck {
    /// What the measuring itself, or the JVM on the measured threads' behalf, may leave behind in a
    /// whole measurement. An object for every operation would be some hundred times as much, even
    /// in the shortest.
    public static final long NOISE_BYTES = 4_096;

    private static final int MOST_ATTEMPTS = 10;
    private static final int TASKS = 1_000_000;
    private static final int TASKS_AT_ONCE = 1_000;
    private static final int TICKS = 1_000_000;
    private static final int WAKEUPS = 50_000;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocationCheck() {}

    /// What was allocated in one measurement.
    ///
    /// @param loopBytes by the loop thread
    /// @param callerBytes by the thread that fed it; zero where that is the loop thread itself
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

    /// Of a million tasks, a thousand at a time.
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

    /// Of a million ticks, each with one deferred callback.
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

    /// Of fifty thousand wake-ups of a sleeping loop.
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
        } while (found.bytes() > NOISE_BYTES && ++attempts < MOST_ATTEMPTS);
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
