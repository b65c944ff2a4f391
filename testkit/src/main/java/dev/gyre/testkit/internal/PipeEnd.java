package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import dev.gyre.internal.sys.Errno;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;

/// One end of a pipe. As on Linux, a pipe has sixteen pages. A page is used up by its first byte
/// unless the next write fits into its rest. So the capacity depends on the sizes of the writes.
final class PipeEnd extends OpenFile {
    private static final int PAGES = 16;
    private static final int PAGE_BYTES = 4_096;
    private static final int END_OF_PIPE = EPOLLIN | EPOLLERR | EPOLLHUP;

    private static final class Page {
        final byte[] bytes = new byte[PAGE_BYTES];
        int from;
        int to;
    }

    /// The state shared by both ends.
    private static final class Shared {
        final Deque<Page> pages = new ArrayDeque<>();
        @Nullable PipeEnd reader;
        @Nullable PipeEnd writer;

        boolean isFull() {
            return pages.size() == PAGES;
        }

        void wakeReader(int key) {
            if (reader != null) {
                reader.wake(key);
            }
        }

        void wakeWriter(int key) {
            if (writer != null) {
                writer.wake(key);
            }
        }
    }

    private final Shared pipe;
    private final boolean reading;

    private PipeEnd(SimulatedKernel kernel, Shared pipe, boolean reading, int flags) {
        super(kernel, flags);
        this.pipe = pipe;
        this.reading = reading;
    }

    static PipeEnd[] open(SimulatedKernel kernel, int flags) {
        Shared pipe = new Shared();
        pipe.reader = new PipeEnd(kernel, pipe, true, flags);
        pipe.writer = new PipeEnd(kernel, pipe, false, flags);
        return new PipeEnd[] {pipe.reader, pipe.writer};
    }

    @Override
    int ready() {
        if (reading) {
            return (pipe.pages.isEmpty() ? 0 : EPOLLIN) | (pipe.writer == null ? EPOLLHUP : 0);
        }
        return (pipe.isFull() ? 0 : EPOLLOUT) | (pipe.reader == null ? EPOLLERR : 0);
    }

    @Override
    int available() {
        int bytes = 0;
        for (Page page : pipe.pages) {
            bytes += page.to - page.from;
        }
        return bytes;
    }

    @Override
    int room() {
        boolean fails = reading || pipe.reader == null;
        return fails ? -1 : (PAGES - pipe.pages.size()) * PAGE_BYTES;
    }

    @Override
    long read(byte[] into, int length) {
        if (!reading) {
            return -Errno.EBADF;
        }
        if (length == 0) {
            return 0;
        }
        int read = 0;
        boolean wasFull = false;
        while (read < length && !pipe.pages.isEmpty()) {
            Page page = pipe.pages.getFirst();
            int some = Math.min(length - read, page.to - page.from);
            System.arraycopy(page.bytes, page.from, into, read, some);
            page.from += some;
            read += some;
            if (page.from == page.to) {
                wasFull |= pipe.isFull();
                pipe.pages.removeFirst();
            }
        }
        if (wasFull) {
            pipe.wakeWriter(EPOLLOUT);
        }
        if (read > 0) {
            return read;
        }
        return pipe.writer == null ? 0 : -Errno.EAGAIN;
    }

    @Override
    long write(byte[] from, int length) {
        if (reading) {
            return -Errno.EBADF;
        }
        if (length == 0) {
            return 0;
        }
        if (pipe.reader == null) {
            return -Errno.EPIPE;
        }
        int written = merge(from, length);
        while (written < length && !pipe.isFull()) {
            Page page = new Page();
            page.to = Math.min(PAGE_BYTES, length - written);
            System.arraycopy(from, written, page.bytes, 0, page.to);
            written += page.to;
            pipe.pages.add(page);
        }
        pipe.wakeReader(EPOLLIN); // Even without new bytes: Linux does so for compatibility.
        return written > 0 ? written : -Errno.EAGAIN;
    }

    /// Appends the part of a write that is not a whole page to the last page, if it fits.
    private int merge(byte[] from, int length) {
        int odd = length % PAGE_BYTES;
        Page last = pipe.pages.peekLast();
        if (odd == 0 || last == null || last.to + odd > PAGE_BYTES) {
            return 0;
        }
        System.arraycopy(from, 0, last.bytes, last.to, odd);
        last.to += odd;
        return odd;
    }

    @Override
    void closed() {
        if (reading) {
            pipe.reader = null;
            pipe.wakeWriter(END_OF_PIPE);
        } else {
            pipe.writer = null;
            pipe.wakeReader(END_OF_PIPE);
        }
    }

    @Override
    public String toString() {
        return reading ? "pipe(r)" : "pipe(w)";
    }
}
