package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// What comes in on standard input, handed over on the loop until its end.
///
/// ```java
/// StandardInput.lines(loop, line -> IO.println("you said " + line), loop::stop);
/// ```
///
/// It may be anything: a terminal, a pipe, a socket, a file, `/dev/null`; and if it is not open
/// at all the end comes at once. Nothing is changed about it that the shell or another process
/// would notice. A file, which is always ready, is read a chunk a tick, so that everything else
/// has its turn; each of these reads waits for the disk if it has to.
///
/// There is nothing to release: after the end, and when the loop ends, it is closed.
///
/// **One reader.** Only one may be open in a process at a time: two would tear the bytes apart.
/// For the same reason `System.in` should be left alone: what it has read ahead never comes here.
/// Bytes that no callback has been given when this is closed are left for others, except for the
/// rest of the chunk read last.
///
/// **Threads.** All methods are loop-confined, and callbacks run on the loop thread.
///
/// **Order.** Everything is handed over in the order it came, then the end, once. After
/// [#pause()] or [#close()], also from within a callback, no callback runs. No end is told after
/// a close.
///
/// **Failure.** If the kernel refuses to read, the input is closed, and the [SystemCallException]
/// goes where throwables of callbacks go ([dev.gyre.FailurePolicy]). The end is not told then:
/// there may have been more. A callback that throws misses nothing that comes after.
public final class StandardInput implements AutoCloseable {
    /// How long a line may be, in bytes, without what ends it.
    public static final int MAX_LINE_BYTES = 1 << 20;

    /// How much is read at a time.
    static final int CHUNK_BYTES = 1 << 16;

    private static final int FD = 0;

    // Shared: numbers that are being read, by any thread.
    private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();

    private final EventLoop loop;
    private final int fd;
    private final InputSource source;
    private final Chunker pieces;
    private final Runnable onEnd;
    private final WatchSpec reading = WatchSpec.reading(watcher -> turn(true));
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(CHUNK_BYTES);

    /// For whatever is to be done though the kernel tells nothing. A timer rather than a deferred
    /// callback, because it can be unreferenced, and because a shutdown does not wait for the
    /// rest of a file.
    private final Timer unasked;

    // Loop thread only.
    private @Nullable Watcher watcher;
    private boolean more;
    private boolean ended;
    private boolean paused;
    private boolean closed;

    private StandardInput(
            EventLoop loop, int fd, InputSource source, Chunker pieces, Runnable onEnd) {
        this.loop = loop;
        this.fd = fd;
        this.source = source;
        this.pieces = pieces;
        this.onEnd = onEnd;
        unasked = loop.after(Duration.ZERO, timer -> turn(false));
    }

    /// Hands over bytes. The buffer is valid during the callback only; what is left in it is
    /// lost.
    ///
    /// @param onBytes is given one byte at least
    /// @param onEnd is told of the end; everything is closed then
    /// @throws IllegalStateException if standard input is being read already
    /// @throws SystemCallException if it is not open for reading, or the kernel refuses to watch
    ///     it
    public static StandardInput on(
            EventLoop loop, Consumer<? super ByteBuffer> onBytes, Runnable onEnd) {
        Objects.requireNonNull(onBytes, "onBytes");
        return open(loop, InputSource.Calls.real(), FD, new Chunks(onBytes), onEnd);
    }

    /// Hands over lines, without the line feed, or carriage return and line feed, that ends each;
    /// the last one needs no end. They are decoded as UTF-8, with U+FFFD in place of what is not.
    ///
    /// A line longer than [#MAX_LINE_BYTES] closes the input, with an [IllegalStateException]
    /// that goes where throwables of callbacks go: cut in pieces it would pass for lines that
    /// nobody wrote.
    ///
    /// @param onLine is given each line
    /// @param onEnd is told of the end; everything is closed then
    /// @throws IllegalStateException if standard input is being read already
    /// @throws SystemCallException if it is not open for reading, or the kernel refuses to watch
    ///     it
    public static StandardInput lines(
            EventLoop loop, Consumer<? super String> onLine, Runnable onEnd) {
        Objects.requireNonNull(onLine, "onLine");
        return open(loop, InputSource.Calls.real(), FD, new Lines(onLine, MAX_LINE_BYTES), onEnd);
    }

    /// The same for any number.
    static StandardInput open(
            EventLoop loop, InputSource.Calls calls, int fd, Chunker pieces, Runnable onEnd) {
        Objects.requireNonNull(loop, "loop");
        Objects.requireNonNull(onEnd, "onEnd");
        if (!TAKEN.add(fd)) {
            throw new IllegalStateException(
                    "descriptor "
                            + fd
                            + " is being read already, and two readers would tear its bytes apart:"
                            + " close the other one first");
        }
        InputSource source = null;
        StandardInput input;
        try {
            source = InputSource.of(calls, fd);
            input = new StandardInput(loop, fd, source, pieces, onEnd);
        } catch (Throwable e) {
            if (source != null) {
                source.close();
            }
            TAKEN.remove(fd);
            throw e;
        }
        try {
            input.begin();
        } catch (Throwable e) {
            input.close(); // Gives the number up, once: somebody else may take it then.
            throw e;
        }
        return input;
    }

    private void begin() {
        loop.own(this);
        Descriptor descriptor = source.descriptor();
        if (descriptor != null) {
            watcher = watchIfPossible(descriptor);
        }
    }

    /// @return null for what the kernel cannot poll, because it never has to be waited for
    private @Nullable Watcher watchIfPossible(Descriptor descriptor) {
        try {
            return loop.watch(descriptor, reading);
        } catch (SystemCallException e) {
            if (e.errno() == Errno.EPERM) {
                return null;
            }
            throw e;
        }
    }

    /// Hands over the next piece, or the end, reading at most once. One at a time: each is a callback of
    /// the loop like any other, with what belongs to one.
    ///
    /// @param readable whether the kernel has said so
    private void turn(boolean readable) {
        if (paused || closed) {
            return;
        }
        if (!hasNews() && (readable || watcher == null || source.neverWaits())) {
            read();
        }
        if (pieces.hasNext()) {
            try {
                pieces.handOverNext();
            } finally {
                goOn();
            }
        } else if (pieces.isOverlong()) {
            close();
            throw new IllegalStateException(
                    "a line on descriptor "
                            + fd
                            + " is longer than "
                            + MAX_LINE_BYTES
                            + " bytes: StandardInput.on reads what is not made of lines");
        } else if (ended) {
            close();
            onEnd.run();
        } else {
            goOn();
        }
    }

    /// Whether there is something that the user has not been told yet.
    private boolean hasNews() {
        return pieces.hasNext() || pieces.isOverlong() || ended;
    }

    private void read() {
        buffer.clear();
        int count;
        try {
            count = source.read(buffer);
        } catch (Throwable e) {
            close();
            throw e;
        }
        more = count > 0;
        pieces.add(buffer.flip());
        if (count == Descriptor.END) {
            ended = true;
            pieces.end();
        }
    }

    /// Sees to it that there is another turn, if the kernel will not tell.
    private void goOn() {
        if (paused || closed) {
            return;
        }
        // A FIFO opened again after its last writer has gone is never reported as hung up: its end
        // is found only by reading until there is nothing.
        if (hasNews() || watcher == null || (more && source.neverWaits())) {
            unasked.reschedule(Duration.ZERO);
        }
    }

    /// Hands over nothing more until [#resume()], and reads nothing: whoever writes has to wait
    /// once the kernel's buffers are full. While paused it keeps no loop alive. Does nothing if
    /// it is paused or closed.
    public void pause() {
        unasked.cancel();
        if (paused || closed) {
            return;
        }
        paused = true;
        if (watcher != null) {
            watcher.modify(WatchSpec.nothing());
        }
    }

    /// Goes on after [#pause()]; callbacks run in a later tick. Does nothing if it is not paused.
    public void resume() {
        boolean _ = unasked.isScheduled(); // Checks the thread.
        if (!paused || closed) {
            return;
        }
        paused = false;
        unasked.reschedule(Duration.ZERO);
        if (watcher != null) {
            watcher.modify(reading);
        }
    }

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although there may be more to come.
    ///
    /// @return this input
    public StandardInput unreference() {
        unasked.unreference();
        if (watcher != null) {
            watcher.unreference();
        }
        return this;
    }

    /// Takes [#unreference()] back.
    ///
    /// @return this input
    public StandardInput reference() {
        unasked.reference();
        if (watcher != null) {
            watcher.reference();
        }
        return this;
    }

    /// Whether there may be more to come: false after the end, a failure and [#close()].
    public boolean isOpen() {
        return !closed;
    }

    /// Hands over nothing any more. Standard input itself stays open. Idempotent.
    @Override
    public void close() {
        unasked.cancel();
        if (closed) {
            return;
        }
        closed = true;
        loop.disown(this);
        source.close();
        TAKEN.remove(fd);
    }
}
