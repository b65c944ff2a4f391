package dev.gyre.io.operation;

import dev.gyre.Cancellation;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.LoopOperation;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

/// Something that the kernel is asked to do and that completes later: a read, a write, a connection. Made once by
/// [Operations], started as often as wanted; a cycle of starts and completions allocates nothing.
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
/// **Completion.** Each start completes exactly once, by a call of its callback as an I/O callback of the loop, never
/// inside `start`. Operations of one descriptor and direction complete in the order they were started.
///
/// **Outcome.** What a program has to expect is a value: [#result()] is a count, zero at the end of input, and negative
/// for refusals, cancellation among them.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop.
public sealed interface Operation
        permits LoopOperation,
                AcceptOperation,
                ReceiveOperation,
                MessageOperation,
                FileOpenOperation,
                FileStatOperation {

    /// Starts it. What it was given belongs to it until it completes.
    ///
    /// @return this operation
    /// @throws IllegalStateException if it is under way, if a buffer is with another operation, empty or full, or
    ///     if the descriptor is watched, or blocks ([Descriptor#nonBlocking()])
    /// @throws ClosedDescriptorException if the descriptor is closed
    Operation start();

    /// Starts it, and promises its result instead of calling the callback: rejected with a [SystemCallException] if
    /// the kernel refuses, with a [dev.gyre.CancelledException] if it is cancelled.
    ///
    /// @throws IllegalStateException as [#start()]
    Promise<Long> startPromised();

    /// Asks for an early end. It completes all the same, once: cancelled, or as it would have if the kernel was
    /// through with it already.
    ///
    /// @return false if it was not under way, or is through and only waits for its callback
    boolean cancel();

    /// Cancels each start of it when that is cancelled. Replaces what was set before; [Cancellation#none()] ends it.
    ///
    /// @return this operation
    Operation cancelOn(Cancellation cancellation);

    /// Marks it for [Operations#cancelAll(Descriptor, Object)].
    ///
    /// @param key compared by `equals`; null for none
    /// @return this operation
    Operation key(@Nullable Object key);

    /// Whether it was started and has not completed yet.
    boolean isPending();

    /// Which start this is, or was: each has another number.
    int generation();

    /// How it went: the number of bytes, zero at the end of input, or the negative of an error number. Of operations that
    /// move no bytes, zero is success.
    long result();

    /// Of writes: how many bytes went out, also if it failed or was cancelled after that.
    long transferred();

    /// Whether it was cancelled before the kernel was through.
    boolean isCancelled();

    /// Why it failed, for throwing or logging; null if it did not, or was cancelled.
    @Nullable SystemCallException failure();

    /// What it is about; null for those that work on paths.
    @Nullable Descriptor descriptor();

    /// Gives it back, for another one of its sort to be made of. Whoever still holds it must not use it any more.
    ///
    /// @throws IllegalStateException if it is under way
    void release();
}
