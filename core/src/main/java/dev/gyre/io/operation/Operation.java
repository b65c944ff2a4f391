package dev.gyre.io.operation;

import dev.gyre.Cancellation;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.LoopOperation;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

/// A request to the kernel that completes later: a read, a write, a connect. [Operations] creates
/// it, and it can be started many times. A cycle of start and completion allocates nothing.
///
/// ```java
/// var buffer = Buffer.allocate(4096);
/// var read = operations.read(socket, buffer, op -> {
///     if (op.result() > 0) {
///         consume(buffer.readable());
///         buffer.clear();
///         op.start();
///     }
/// });
/// read.start();
/// ```
///
/// **Completion.** Each start completes exactly once by a call of its callback, as an I/O callback
/// of the loop, never inside `start`. Operations of one descriptor and direction complete in the
/// order of their starts.
///
/// **Outcome.** Expected outcomes are values: [#result()] is a count, zero at the end of input, or
/// negative for refusals and cancellation.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop.
///
/// Methods that return an `Operation` return this one.
public sealed interface Operation
        permits LoopOperation,
                AcceptOperation,
                ReceiveOperation,
                MessageOperation,
                FileOpenOperation,
                FileStatOperation {

    /// Starts the operation. It owns its buffers until it completes.
    ///
    /// @throws IllegalStateException if the operation is pending or released; if a buffer belongs
    ///     to another operation, is empty or is full; or if the descriptor is watched or blocking
    ///     ([Descriptor#nonBlocking()])
    /// @throws dev.gyre.io.ClosedDescriptorException if the descriptor is closed
    Operation start();

    /// Starts the operation, and settles a promise instead of calling the callback. It is rejected
    /// with a [SystemCallException] if the kernel refuses, and with a
    /// [dev.gyre.CancelledException] if the operation is cancelled.
    ///
    /// @throws IllegalStateException as [#start()], or if the operation completes repeatedly
    Promise<Long> startPromised();

    /// Requests cancellation. The operation still completes once: as cancelled, or with its result
    /// if the kernel finished before.
    ///
    /// @return false if the operation is not pending, or has only its callback left to run
    boolean cancel();

    /// Cancels each start when the token is cancelled. Replaces the previous token;
    /// [Cancellation#none()] removes it.
    Operation cancelOn(Cancellation cancellation);

    /// Sets the key for [Operations#cancelAll(Descriptor, Object)].
    ///
    /// @param key compared by `equals`; null for none
    Operation key(@Nullable Object key);

    /// Returns whether the operation was started and has not completed.
    boolean isPending();

    /// Returns the number of the last start. It differs for each start.
    int generation();

    /// Returns the result of the last completion: the number of bytes, zero at the end of input, or
    /// the negative error number. For operations that transfer no bytes, zero is success.
    long result();

    /// Returns the number of bytes written, also if the write failed or was cancelled afterwards.
    long transferred();

    /// Returns whether the operation was cancelled before the kernel finished.
    boolean isCancelled();

    /// Returns the failure for throwing or logging; null if the operation succeeded or was
    /// cancelled.
    @Nullable SystemCallException failure();

    /// Returns the descriptor; null for operations on paths.
    @Nullable Descriptor descriptor();

    /// Releases the operation for reuse. It must not be used afterwards.
    ///
    /// @throws IllegalStateException if the operation is pending
    void release();
}
