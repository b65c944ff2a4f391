package dev.gyre.internal.backend;

import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/// The interface of the loop to a kernel. It includes the clock, so that a simulated kernel can
/// wait in simulated time.
///
/// A poll collects events. The loop then dispatches them one by one, and runs the callbacks of each
/// handler itself. Collected events survive until they are dispatched, so that a run may end
/// between two of them.
///
/// **Threads.** Polling and dispatching belong to the loop thread. Any thread may call [#wake],
/// [#register], [#modify] and [#deregister], also while the loop thread waits. They never wait for
/// the loop: no lock is held during a wait, nor while a handler runs. A backend whose kernel
/// accepts requests from one thread only may wake the loop thread for them.
public interface Backend {
    /// Returns the name that users configure: `epoll`.
    String name();

    /// Describes what executes the operations: the kernel itself, or which fallback. A fallback may
    /// be found out only when it is used. Any thread.
    default String describe() {
        return "operations by readiness";
    }

    /// Returns the monotonic clock that deadlines refer to.
    default long nanoTime() {
        return System.nanoTime();
    }

    /// Collects ready events without waiting. All collected events must have been dispatched.
    void pollNow();

    /// Waits until an event is ready, [#wake] is called or the deadline has passed, and collects
    /// ready events. Never returns early for another reason. All collected events must have been
    /// dispatched.
    void pollUntil(long deadlineNanos);

    /// Passes the next collected event to [ReadinessHandler#onReady]. Skips events whose
    /// registration is gone.
    ///
    /// @return the handler, whose callbacks the caller runs; null if no event is left
    @Nullable ReadinessHandler dispatchNext();

    /// Makes the current wait return, or the next one if no thread waits. At most one signal is in
    /// flight. Harmless during and after [#close].
    void wake();

    /// Returns how many signals [#wake] has sent.
    long wakeups();

    /// Registers a descriptor. Replaces an existing registration of its number.
    ///
    /// @param interest bits of [Readiness]
    /// @throws dev.gyre.SystemCallException if the kernel refuses; the number is then unregistered
    /// @throws dev.gyre.LoopTerminatedException after [#close]
    void register(int fd, int interest, ReadinessHandler handler);

    /// Changes the interest in a descriptor. Does nothing if it is not registered.
    void modify(int fd, int interest);

    /// Deregisters a descriptor, and drops events that are collected for it. Does nothing if it is
    /// not registered with this handler. Ignores errors of the kernel.
    void deregister(int fd, ReadinessHandler handler);

    /// Opens the engine that executes operations. Called once, before any other method. Readiness
    /// backends share [ReadinessOperations].
    default OperationEngine openOperations(LoopContext context) {
        return new ReadinessOperations(this, SyscallFactories.LINUX, context);
    }

    /// Returns the system calls on descriptors of this backend, for any thread.
    default SyscallFactories syscalls() {
        return SyscallFactories.LINUX_BY_THREAD;
    }

    /// Returns the source of signals; null for those of the process.
    default @Nullable Supplier<? extends SignalCalls> signals() {
        return null;
    }

    /// Detaches the loop thread at the end of a run: another thread may run or close the loop next.
    /// Never fails.
    default void detach() {}

    /// Releases everything: first the source of events, then the wake-up. Idempotent. Must not be
    /// called while a thread waits.
    void close();
}
