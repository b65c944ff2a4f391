package dev.gyre.internal.backend;

import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/// What the loop asks of a kernel. Time is part of it: whoever does the waiting also says how late it
/// is, so that a simulated kernel can wait in simulated time.
///
/// Waiting collects events; the loop then takes them one by one and runs each handler itself. Collected
/// events survive until they are taken, so a run may end between two of them.
///
/// **Threads.** Waiting and taking belong to the loop thread. [#wake], [#register], [#modify] and
/// [#deregister] may be called by any thread, also while the loop thread waits, and never wait for it: no
/// lock is held then, nor while a handler runs. A backend whose kernel takes requests from one thread
/// only may wake the loop thread for them.
public interface Backend {
    /// The name users know it by: `epoll`.
    String name();

    /// In words, who makes the operations: the kernel by itself, or who else. What it lacks may be found
    /// out only when it is used. Any thread.
    default String describe() {
        return "operations by readiness";
    }

    /// The monotonic clock that deadlines are measured with.
    long nanoTime();

    /// Collects what is ready, without waiting. Only when all collected events have been taken.
    void pollNow();

    /// Waits until something is ready, [#wake] is called or the deadline has come, never returning early
    /// for any other reason, and collects what is ready. Only when all collected events have been
    /// taken.
    void pollUntil(long deadlineNanos);

    /// Passes the next collected event to [ReadinessHandler#onReady]. Skips events whose
    /// registration is gone.
    ///
    /// @return the handler, whose callbacks the caller runs; null if no event is left
    @Nullable ReadinessHandler dispatchNext();

    /// Makes the current wait return, or the next one if there is none. At most one signal is on
    /// its way at a time. Harmless during and after [#close].
    void wake();

    /// Signals that [#wake] really sent.
    long wakeups();

    /// Registers a descriptor, replacing what was registered under its number.
    ///
    /// @param interest bits of [Readiness]
    /// @throws dev.gyre.SystemCallException if the kernel refuses; the number is then unregistered
    /// @throws dev.gyre.LoopTerminatedException after [#close]
    void register(int fd, int interest, ReadinessHandler handler);

    /// Changes what a registered descriptor is watched for. Does nothing if it is not registered.
    void modify(int fd, int interest);

    /// Forgets a descriptor: events already collected for it are dropped. Does nothing if it is not
    /// registered with this handler; what the kernel says to the removal is ignored.
    void deregister(int fd, ReadinessHandler handler);

    /// What operations are started with. Called once, before anything else is asked of it. Backends that tell of
    /// readiness have the one written for them all.
    default OperationEngine openOperations(LoopContext host) {
        return new ReadinessOperations(this, Syscalls.LINUX, host);
    }

    /// The seam that this backend's descriptors are used through, by any thread.
    default Syscalls syscalls() {
        return Syscalls.LINUX_BY_THREAD;
    }

    /// Where the signals of a loop over this backend come from; null if from the process, as usual.
    default @Nullable Supplier<? extends SignalCalls> signals() {
        return null;
    }

    /// The loop thread is through with a run: another thread may run the loop next, or close it. Never
    /// fails.
    default void detach() {}

    /// Releases everything: first what delivers events, then what wakes. Idempotent. Not while a thread
    /// waits.
    void close();
}
