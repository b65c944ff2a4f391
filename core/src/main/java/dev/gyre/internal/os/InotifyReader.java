package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_ISDIR;
import static dev.gyre.internal.sys.Linux.IN_MOVED_FROM;
import static dev.gyre.internal.sys.Linux.IN_MOVED_TO;
import static dev.gyre.internal.sys.Linux.IN_Q_OVERFLOW;
import static dev.gyre.internal.sys.Linux.NAME_MAX;
import static dev.gyre.internal.sys.Linux.OFFSETOF_INOTIFY_EVENT_COOKIE;
import static dev.gyre.internal.sys.Linux.OFFSETOF_INOTIFY_EVENT_LEN;
import static dev.gyre.internal.sys.Linux.OFFSETOF_INOTIFY_EVENT_MASK;
import static dev.gyre.internal.sys.Linux.SIZEOF_INOTIFY_EVENT;

import dev.gyre.internal.sys.FileNames;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/// Reads events of inotify and joins the two halves of a move.
///
/// The kernel queues IN_MOVED_FROM and IN_MOVED_TO one after the other, but not atomically: a read
/// may end between them, and other events may separate them. Those concern other directories or
/// file contents only, because the kernel locks both directories meanwhile. So the move can be
/// reported at the position of its first half.
///
/// A first half waits for the next event, with a timeout set by the owner. If that is not the
/// second half, the reader looks a few events ahead. Without a match the first half is reported
/// alone.
///
/// Loop thread only.
final class InotifyReader {
    static final int BUFFER_BYTES = 1 << 16;

    private static final int MAX_EVENT_BYTES = SIZEOF_INOTIFY_EVENT + NAME_MAX + 1;

    /// The maximum number of events between two halves of one read.
    private static final int LOOK_AHEAD = 16;

    interface Sink {
        /// An entry was created, deleted, modified, or closed after writing.
        void onEntry(int watch, int mask, Path name);

        void onMoved(MoveHalf from, MoveHalf to);

        void onMovedAway(MoveHalf from);

        void onMovedIn(MoveHalf to);

        /// The watched directory itself changed.
        void onSelf(int watch, int mask);

        /// Events were lost.
        void onOverflow();
    }

    record MoveHalf(int watch, Path name, boolean isDirectory, int cookie) {}

    private final Descriptor source;
    private final Sink sink;

    /// Between reads it holds at most the start of an event, and only if a read splits events,
    /// which inotify does not.
    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.nativeOrder());

    private @Nullable MoveHalf pendingMove;

    /// The cookies of second halves that were reported ahead of their position.
    private final Set<Integer> joinedCookies = new HashSet<>();

    InotifyReader(Descriptor source, Sink sink) {
        this.source = source;
        this.sink = sink;
    }

    /// Reads once and reports the events.
    ///
    /// @return whether the kernel's queue was drained
    /// @throws dev.gyre.SystemCallException if the read fails
    boolean read() {
        int count = source.read(buffer);
        if (count == Descriptor.END) {
            throw new IllegalStateException(source + " has ended, which inotify never does");
        }
        boolean drained = buffer.remaining() >= MAX_EVENT_BYTES;
        buffer.flip();
        try {
            while (isWhole(buffer.position())) {
                processNext();
            }
        } finally {
            buffer.compact();
        }
        if (!buffer.hasRemaining()) {
            // An event larger than the buffer: the stream is corrupt.
            buffer.clear();
            overflow();
        }
        return drained;
    }

    @Nullable MoveHalf pendingMove() {
        return pendingMove;
    }

    /// Reports a first half whose second half is overdue.
    void expirePendingMove() {
        MoveHalf alone = pendingMove;
        if (alone != null) {
            pendingMove = null;
            sink.onMovedAway(alone);
        }
    }

    private boolean isWhole(int at) {
        return buffer.limit() - at >= SIZEOF_INOTIFY_EVENT
                && Integer.compareUnsigned(
                                buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_LEN),
                                buffer.limit() - at - SIZEOF_INOTIFY_EVENT)
                        <= 0;
    }

    private int end(int at) {
        return at + SIZEOF_INOTIFY_EVENT + buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_LEN);
    }

    private void processNext() {
        int at = buffer.position();
        buffer.position(end(at)); // First: a report may throw, and must not be repeated.
        int mask = buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_MASK);
        int cookie = buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_COOKIE);
        boolean isSecond = (mask & IN_MOVED_TO) != 0;
        if (isSecond && joinedCookies.remove(cookie)) {
            return;
        }
        MoveHalf first = pendingMove;
        if (first != null) {
            pendingMove = null;
            if (isSecond && cookie == first.cookie()) {
                sink.onMoved(first, halfAt(at));
                return;
            }
            int ahead = findSecondHalf(end(at), first.cookie());
            if (ahead >= 0) {
                joinedCookies.add(first.cookie());
                sink.onMoved(first, halfAt(ahead));
            } else {
                sink.onMovedAway(first);
            }
        }
        if ((mask & IN_Q_OVERFLOW) != 0) {
            overflow();
        } else if ((mask & IN_MOVED_FROM) != 0) {
            pendingMove = halfAt(at);
        } else if (isSecond) {
            sink.onMovedIn(halfAt(at));
        } else if (buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_LEN) == 0) {
            sink.onSelf(buffer.getInt(at), mask);
        } else {
            sink.onEntry(buffer.getInt(at), mask, nameAt(at));
        }
    }

    private void overflow() {
        joinedCookies.clear();
        sink.onOverflow();
    }

    /// Returns its index, or -1.
    private int findSecondHalf(int from, int cookie) {
        int at = from;
        for (int checked = 0; checked < LOOK_AHEAD && isWhole(at); checked++) {
            if ((buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_MASK) & IN_MOVED_TO) != 0
                    && buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_COOKIE) == cookie) {
                return at;
            }
            at = end(at);
        }
        return -1;
    }

    private MoveHalf halfAt(int at) {
        boolean isDirectory = (buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_MASK) & IN_ISDIR) != 0;
        return new MoveHalf(
                buffer.getInt(at),
                nameAt(at),
                isDirectory,
                buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_COOKIE));
    }

    private Path nameAt(int at) {
        int start = at + SIZEOF_INOTIFY_EVENT;
        int length = 0;
        int max = buffer.getInt(at + OFFSETOF_INOTIFY_EVENT_LEN);
        while (length < max && buffer.get(start + length) != 0) {
            length++;
        }
        byte[] bytes = new byte[length];
        buffer.get(start, bytes);
        return FileNames.name(bytes);
    }
}
