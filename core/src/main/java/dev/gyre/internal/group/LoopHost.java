package dev.gyre.internal.group;

import dev.gyre.LoopConfig;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.loop.Loop;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/// Opens and runs the loops of a group: on threads, or on the thread of a simulated world.
public interface LoopHost {
    /// Opens the loop with this index: at the start, and after a failure.
    Loop open(int index, LoopConfig config);

    /// Makes a loop run. The host reports the end of a run to [Group#loopFailed] or
    /// [Group#loopStopped], and of the last one to [Group#exited].
    void start(Group group, int index);

    /// Shuts down a loop that was started, gracefully.
    ///
    /// @param endNanos the deadline, on the clock of the loop
    default void shutdown(Loop loop, long endNanos) {
        // On its thread, which may not have entered the loop yet: the loop would drop its tasks.
        boolean _ = loop.trySubmitPriority(new InternalTask(() -> shutdownNow(loop, endNanos)));
    }

    /// Shuts down a loop, which drops its tasks if no thread runs it.
    static void shutdownNow(Loop loop, long endNanos) {
        var _ = loop.shutdown(Duration.ofNanos(Math.max(0, endNanos - loop.nanoTime())));
    }

    /// Runs closing loops until they terminate. Does nothing if the loops have their own threads.
    default void runClosing(Group group) {}

    /// Returns whether the calling thread runs a loop of the group, or prepares one.
    default boolean isThreadOf(Group group) {
        return false;
    }

    /// Returns whether other threads run the loops.
    default boolean isThreaded() {
        return true;
    }

    /// Checks that a thread can wait for the end of the group.
    default void requireWaiting(String method, CompletableFuture<?> ended) {}
}
