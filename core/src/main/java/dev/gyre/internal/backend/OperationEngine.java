package dev.gyre.internal.backend;

import org.jspecify.annotations.Nullable;

/// Executes the operations of a backend: clauses O-1 to O-9. Readiness backends share
/// [ReadinessOperations]; a completion backend has its own.
///
/// **Order.** Requests of one descriptor and kind are served in the order in which they were
/// started. No request completes inside [#start]: completions are enqueued, and [#pollCompleted]
/// dequeues them one by one.
///
/// **Memory.** The memory that a request refers to belongs to the backend from `start` until the
/// completion is delivered. A completion backend's kernel really writes into it all that time, so
/// the rule holds for all.
///
/// Loop thread only, except where noted.
public interface OperationEngine {
    /// Opens the state of a descriptor, which is non-blocking and unknown to this backend.
    ///
    /// @param traits bits of [DescriptorState.Traits]
    DescriptorState open(int fd, int traits);

    /// Starts a request of a descriptor, and sets its `fd`.
    void start(DescriptorState descriptor, Request request);

    void startFile(Request request);

    /// Cancels a request. It completes once: cancelled, unless it has completed before. That may
    /// take a while if the kernel executes it.
    void cancel(Request request);

    /// Cancels the pending requests of a descriptor, in order.
    ///
    /// @param key cancels only requests with this key; all if null
    /// @param kinds cancels only these kinds, as bits
    void cancelAll(DescriptorState descriptor, @Nullable Object key, int kinds);

    /// Cancels all pending requests of a descriptor, and releases its state.
    ///
    /// @param released runs once the kernel no longer uses the number: at once, or in a later tick
    void close(DescriptorState descriptor, Runnable released);

    /// Resumes a multishot after its handler has processed a completion with `more`.
    void resume(Request request);

    CompletionQueue completions();

    /// Dequeues the next completed request; null if absent.
    default @Nullable Request pollCompleted() {
        return completions().poll();
    }

    /// Returns whether completions wait to be delivered: the loop must not sleep then.
    default boolean hasCompleted() {
        return !completions().isEmpty();
    }

    /// See [CompletionQueue#outstanding()]. Any thread.
    default int outstanding() {
        return completions().outstanding();
    }

    /// Passes changes to the kernel. Called before each wait.
    void flush();

    /// Returns the buffers that RECEIVE fills.
    ReceiveBuffers buffers();

    /// Releases a buffer that a RECEIVE has filled.
    void releaseBuffer(int buffer);

    /// Cancels all pending requests, once the kernel no longer uses their memory. Completions that
    /// are not delivered after this are lost.
    void close();
}
