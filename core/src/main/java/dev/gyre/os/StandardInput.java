package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.OpenStandardInput;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/// Reads standard input on the loop, until its end.
///
/// ```java
/// StandardInput.lines(loop, line -> IO.println("you said " + line), loop::stop);
/// ```
///
/// Standard input may be a terminal, a pipe, a socket, a file or `/dev/null`. If it is not open,
/// the end is reported at once. Reading it changes nothing that the shell or another process would
/// notice. A file is always ready, so it is read one chunk per tick and other callbacks run in
/// between; such a read may wait for the disk.
///
/// It needs no explicit release: it is closed at its end and when the loop terminates.
///
/// **One reader.** Only one may be open in a process at a time, since two would split the bytes
/// between them. For the same reason leave `System.in` alone: bytes that it has read ahead do not
/// arrive here. After [#close()], bytes not delivered yet remain readable by others, except for the
/// rest of the chunk read last.
///
/// **Threads.** All methods are loop-confined, and callbacks run on the loop thread.
///
/// **Order.** Input is delivered in order, then the end, once. After [#pause()] or [#close()], also
/// from within a callback, no callback runs. No end is reported after a close.
///
/// **Failure.** If a read fails, the input is closed, and the [SystemCallException] is handled like
/// an exception of a callback ([dev.gyre.FailurePolicy]). The end is not reported, because input
/// may be missing. A callback that throws loses no later input.
public sealed interface StandardInput extends AutoCloseable permits OpenStandardInput {
    /// The maximum length of a line, in bytes, without its terminator.
    int MAX_LINE_BYTES = 1 << 20;

    /// Delivers bytes. The buffer is valid only during the callback; bytes left in it are lost.
    ///
    /// @param onBytes receives at least one byte per call
    /// @param onEnd runs at the end of input, after everything is closed
    /// @throws IllegalStateException if standard input is being read already
    /// @throws SystemCallException if standard input is not open for reading, or the kernel refuses
    ///     to watch it
    static StandardInput on(EventLoop loop, Consumer<? super ByteBuffer> onBytes, Runnable onEnd) {
        return OpenStandardInput.bytes(loop, onBytes, onEnd);
    }

    /// Delivers lines without their terminator, a line feed or a carriage return and a line feed.
    /// The last line needs no terminator. Lines are decoded as UTF-8; malformed bytes become
    /// U+FFFD.
    ///
    /// A line longer than [#MAX_LINE_BYTES] closes the input, with an [IllegalStateException] that
    /// is handled like an exception of a callback. Splitting it would deliver lines that the input
    /// does not contain.
    ///
    /// The end is reported as in [#on], and the same exceptions are thrown.
    static StandardInput lines(EventLoop loop, Consumer<? super String> onLine, Runnable onEnd) {
        return OpenStandardInput.lines(loop, onLine, onEnd);
    }

    /// Stops reading and delivering until [#resume()]. Writers block once the kernel's buffers are
    /// full. A paused input does not keep the loop alive. Does nothing if paused or closed.
    void pause();

    /// Resumes after [#pause()]; callbacks run in a later tick. Does nothing if not paused.
    void resume();

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although more input may arrive.
    ///
    /// @return this input
    StandardInput unreference();

    /// Reverts [#unreference()].
    ///
    /// @return this input
    StandardInput reference();

    /// Returns whether more input may arrive: false after the end, a failure and [#close()].
    boolean isOpen();

    /// Stops delivering. Standard input itself stays open. Idempotent.
    @Override
    void close();
}
