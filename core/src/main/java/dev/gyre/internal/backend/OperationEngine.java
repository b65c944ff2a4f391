package dev.gyre.internal.backend;

import org.jspecify.annotations.Nullable;

/// The operations of a backend: clauses O-1 to O-9. Readiness backends share one implementation, the
/// [ReadinessOperations]; a completion backend has its own.
///
/// **Order.** Requests of one descriptor and kind are served in the order in which they were started. None
/// is completed inside [#start]: completions are posted and handed out by [#takeCompleted], or by
/// [Backend#takeReady], one by one.
///
/// **Memory.** What a request points to is the backend's from `start` until it is handed out. On one of
/// them the kernel really writes into it all that time, so the rule holds on all.
///
/// Loop thread only.
public interface OperationEngine {
    /// Makes a descriptor known. It does not block, and is not known to this backend yet.
    ///
    /// @param traits bits of [DescriptorState.Traits]
    DescriptorState open(int fd, int traits);

    /// Starts a request of a descriptor. Its `fd` is set by this.
    void start(DescriptorState descriptor, Request request);

    /// Starts a request of kind FILE.
    void startFile(Request request);

    /// Asks for an early end: the request completes once, cancelled unless it was through already. If the
    /// kernel has it in hand that may take a while.
    void cancel(Request request);

    /// Cancels what is pending on a descriptor, in order.
    ///
    /// @param key only those with this key, unless it is null
    /// @param kinds only those of these kinds, as bits
    void cancelAll(DescriptorState descriptor, @Nullable Object key, int kinds);

    /// Cancels all that is pending on a descriptor and forgets it. It may be gone from here on.
    ///
    /// @param released called once the kernel uses the number no more: at once, or in a later turn
    void close(DescriptorState descriptor, Runnable released);

    /// The owner of a multishot has dealt with a completion that said `more`: the next may come.
    void resume(Request request);

    /// The next completed request, or null if there is none.
    @Nullable Request pollCompleted();

    /// Whether requests wait to be handed out: then nobody may sleep.
    boolean hasCompleted();

    /// How many were started and not handed out for good. Any thread.
    int outstanding();

    /// How many were handed out for good. Any thread.
    long completedCount();

    /// Tells the kernel what has changed since the last wait. Called just before each.
    void flush();

    /// The buffers that RECEIVE fills.
    ReceiveBuffers buffers();

    /// Whoever was handed a buffer of [#buffers()] is through with it.
    void releaseBuffer(int buffer);

    /// The loop is over: everything pending is completed as cancelled, when the kernel uses its memory no
    /// more. What is not handed out after this is lost.
    void close();
}
