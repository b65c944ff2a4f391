package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;

/// One end of something in memory: a pipe, a pair of sockets, a file, or a queue. Guarded by the
/// [FakeKqueue] that has it.
final class FakeDescriptor {
    private static final int S_IFIFO = 0x1000;

    /// Bytes on their way in one direction.
    private static final class Stream {
        static final long CAPACITY = 65_536;

        long bytes;
        boolean writerGone;
        boolean readerGone;
    }

    private final int type;
    private final Stream in;
    private final Stream out;
    private final boolean reads;
    private final boolean writes;
    private int error;

    private FakeDescriptor(int type, Stream in, Stream out, boolean reads, boolean writes) {
        this.type = type;
        this.in = in;
        this.out = out;
        this.reads = reads;
        this.writes = writes;
    }

    /// The reader, then the writer.
    static FakeDescriptor[] pipe() {
        Stream stream = new Stream();
        return new FakeDescriptor[] {
            new FakeDescriptor(S_IFIFO, stream, new Stream(), true, false),
            new FakeDescriptor(S_IFIFO, new Stream(), stream, false, true)
        };
    }

    static FakeDescriptor[] sockets() {
        Stream there = new Stream();
        Stream back = new Stream();
        return new FakeDescriptor[] {
            new FakeDescriptor(Kevent.S_IFSOCK, there, back, true, true),
            new FakeDescriptor(Kevent.S_IFSOCK, back, there, true, true)
        };
    }

    static FakeDescriptor file() {
        return new FakeDescriptor(Kevent.S_IFREG, new Stream(), new Stream(), false, false);
    }

    static FakeDescriptor queue() {
        return new FakeDescriptor(0, new Stream(), new Stream(), false, false);
    }

    int type() {
        return type;
    }

    boolean isFile() {
        return type == Kevent.S_IFREG;
    }

    @SuppressWarnings("ReferenceEquality") // a stream is only itself
    boolean isPeerOf(FakeDescriptor other) {
        return other != this && (in == other.out || out == other.in);
    }

    boolean isBrokenPipe() {
        return type == S_IFIFO && out.readerGone;
    }

    int error() {
        return error;
    }

    long readable() {
        return isFile() ? 1 : reads ? in.bytes : 0;
    }

    long writable() {
        return isFile() ? 1 : writes ? Stream.CAPACITY - out.bytes : 0;
    }

    boolean isReadEnd() {
        return reads && (in.writerGone || error != 0);
    }

    boolean isWriteEnd() {
        return writes && (out.readerGone || out.writerGone || error != 0);
    }

    long write(long count) {
        if (out.readerGone || out.writerGone) {
            return -Errno.EPIPE;
        }
        long taken = Math.min(count, writable());
        out.bytes += taken;
        return taken == 0 ? -Errno.EAGAIN : taken;
    }

    long read(long count) {
        long taken = Math.min(count, in.bytes);
        in.bytes -= taken;
        return taken == 0 && !in.writerGone ? -Errno.EAGAIN : taken;
    }

    void shutDown() {
        out.writerGone = true;
    }

    void reset(int errno) {
        error = errno;
    }

    void close() {
        in.readerGone = true;
        out.writerGone = true;
    }
}
