package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Descriptor;
import dev.gyre.os.StandardInput;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// Reads a descriptor through an [InputSource] and delivers it through a [Chunker].
public final class OpenStandardInput implements StandardInput {
    public static final int READ_BYTES = 1 << 16;

    private static final int FD = 0;

    // Shared: the descriptors being read, by any thread.
    private static final Set<Integer> IN_USE = ConcurrentHashMap.newKeySet();

    private final EventLoop loop;
    private final int fd;
    private final InputSource source;
    private final Chunker chunker;
    private final Runnable onEnd;
    private final WatchSpec reading = WatchSpec.reading(watcher -> step(true));
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);

    /// Runs steps that no readiness event triggers. It is a timer and not a deferred callback,
    /// because it can be unreferenced, and because a shutdown does not wait for the rest of a file.
    private final Timer stepTimer;

    // Loop thread only.
    private @Nullable Watcher watcher;
    private boolean more;
    private boolean ended;
    private boolean paused;
    private boolean closed;

    private OpenStandardInput(
            EventLoop loop, int fd, InputSource source, Chunker chunker, Runnable onEnd) {
        this.loop = loop;
        this.fd = fd;
        this.source = source;
        this.chunker = chunker;
        this.onEnd = onEnd;
        stepTimer = loop.after(Duration.ZERO, timer -> step(false));
    }

    public static StandardInput bytes(
            EventLoop loop, Consumer<? super ByteBuffer> onBytes, Runnable onEnd) {
        Objects.requireNonNull(onBytes, "onBytes");
        return open(loop, SyscallFactories.LINUX_BY_THREAD, FD, new Chunker.Bytes(onBytes), onEnd);
    }

    public static StandardInput lines(
            EventLoop loop, Consumer<? super String> onLine, Runnable onEnd) {
        Objects.requireNonNull(onLine, "onLine");
        Chunker lines = new Chunker.Lines(onLine, MAX_LINE_BYTES);
        return open(loop, SyscallFactories.LINUX_BY_THREAD, FD, lines, onEnd);
    }

    public static StandardInput open(
            EventLoop loop, SyscallFactories calls, int fd, Chunker chunker, Runnable onEnd) {
        Objects.requireNonNull(loop, "loop");
        Objects.requireNonNull(onEnd, "onEnd");
        if (!IN_USE.add(fd)) {
            throw new IllegalStateException(
                    "descriptor "
                            + fd
                            + " is being read already, and two readers would split its bytes:"
                            + " close the other one first");
        }
        InputSource source = null;
        OpenStandardInput input;
        try {
            source = InputSource.of(calls, fd);
            input = new OpenStandardInput(loop, fd, source, chunker, onEnd);
        } catch (Throwable e) {
            if (source != null) {
                source.close();
            }
            IN_USE.remove(fd);
            throw e;
        }
        try {
            input.start();
        } catch (Throwable e) {
            input.close(); // Removes the descriptor from IN_USE, exactly once.
            throw e;
        }
        return input;
    }

    private void start() {
        loop.own(this);
        Descriptor descriptor = source.descriptor;
        if (descriptor != null) {
            watcher = watchIfPossible(descriptor);
        }
    }

    /// Returns `null` if the descriptor cannot be polled, because it is always ready.
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

    /// Delivers one chunk or the end, reading at most once. Each chunk is a loop callback of its
    /// own, with its own microtasks and failure handling.
    ///
    /// @param readable whether a readiness event triggered the step
    private void step(boolean readable) {
        if (paused || closed) {
            return;
        }
        if (!hasUndelivered() && (readable || watcher == null || source.neverBlocks)) {
            read();
        }
        if (chunker.hasNext()) {
            try {
                chunker.deliverNext();
            } finally {
                scheduleStep();
            }
        } else if (chunker.isTooLong()) {
            close();
            throw new IllegalStateException(
                    "a line on descriptor "
                            + fd
                            + " is longer than "
                            + MAX_LINE_BYTES
                            + " bytes: use StandardInput.on for input without lines");
        } else if (ended) {
            close();
            onEnd.run();
        } else {
            scheduleStep();
        }
    }

    private boolean hasUndelivered() {
        return chunker.hasNext() || chunker.isTooLong() || ended;
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
        chunker.add(buffer.flip());
        if (count == Descriptor.END) {
            ended = true;
            chunker.end();
        }
    }

    /// Schedules another step if no readiness event will trigger it.
    private void scheduleStep() {
        if (paused || closed) {
            return;
        }
        // A FIFO reopened after its last writer has closed never reports a hangup: only a read that
        // returns nothing finds its end.
        if (hasUndelivered() || watcher == null || (more && source.neverBlocks)) {
            stepTimer.reschedule(Duration.ZERO);
        }
    }

    @Override
    public void pause() {
        stepTimer.cancel();
        if (paused || closed) {
            return;
        }
        paused = true;
        if (watcher != null) {
            watcher.modify(WatchSpec.nothing());
        }
    }

    @Override
    public void resume() {
        boolean _ = stepTimer.isScheduled(); // Checks the thread.
        if (!paused || closed) {
            return;
        }
        paused = false;
        stepTimer.reschedule(Duration.ZERO);
        if (watcher != null) {
            watcher.modify(reading);
        }
    }

    @Override
    public StandardInput unreference() {
        stepTimer.unreference();
        if (watcher != null) {
            watcher.unreference();
        }
        return this;
    }

    @Override
    public StandardInput reference() {
        stepTimer.reference();
        if (watcher != null) {
            watcher.reference();
        }
        return this;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        stepTimer.cancel();
        if (closed) {
            return;
        }
        closed = true;
        loop.disown(this);
        source.close();
        IN_USE.remove(fd);
    }
}
