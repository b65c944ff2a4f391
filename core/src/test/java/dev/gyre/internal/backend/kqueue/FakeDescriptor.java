package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// A descriptor in memory: the end of a pipe or of a pair of sockets, a file, or a queue. Guarded by
/// its [FakeKqueue].
final class FakeDescriptor {
    private static final int S_IFIFO = 0x1000;

    /// Bytes in flight in one direction.
    private static final class Stream {
        static final int CAPACITY = 65_536;

        private final byte[] ring = new byte[CAPACITY];
        private int first;
        long bytes;
        boolean writerGone;
        boolean readerGone;

        /// Bytes from address zero are zeros.
        void put(long address, long count) {
            for (long i = 0; i < count; i++) {
                int at = (int) ((first + bytes++) % CAPACITY);
                ring[at] = address == 0 ? 0 : (byte) Memory.getByte(address + i);
            }
        }

        void take(long address, long count) {
            for (long i = 0; i < count; i++) {
                if (address != 0) {
                    Memory.putByte(address + i, ring[first]);
                }
                first = (first + 1) % CAPACITY;
                bytes--;
            }
        }
    }

    private final int type;
    private Stream in;
    private Stream out;
    private boolean reads;
    private boolean writes;
    private int error;

    /// The connections of a listening TCP socket that are not accepted; null if it does not listen.
    private @Nullable ArrayDeque<FakeDescriptor> backlog;

    private @Nullable FakeDescriptor peer;
    private boolean tcp;

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

    /// A TCP socket that is not connected.
    static FakeDescriptor socket() {
        FakeDescriptor socket =
                new FakeDescriptor(Kevent.S_IFSOCK, new Stream(), new Stream(), false, false);
        socket.tcp = true;
        return socket;
    }

    static FakeDescriptor file() {
        return new FakeDescriptor(Kevent.S_IFREG, new Stream(), new Stream(), false, false);
    }

    static FakeDescriptor queue() {
        return new FakeDescriptor(0, new Stream(), new Stream(), false, false);
    }

    // ------------------------------------------------------------------ TCP

    void listen() {
        backlog = new ArrayDeque<>();
    }

    boolean isListening() {
        return backlog != null && !in.readerGone;
    }

    /// Connects with a socket that listens.
    ///
    /// @return the other end, for the listener to accept
    FakeDescriptor connectTo(FakeDescriptor listener) {
        FakeDescriptor accepted = socket();
        accepted.in = out;
        accepted.out = in;
        accepted.connected(this);
        connected(accepted);
        listener.backlog.add(accepted);
        return accepted;
    }

    private void connected(FakeDescriptor to) {
        peer = to;
        reads = true;
        writes = true;
    }

    @Nullable FakeDescriptor accept() {
        return backlog.poll();
    }

    boolean isConnected() {
        return !tcp || peer != null;
    }

    @Nullable FakeDescriptor peer() {
        return peer;
    }

    int takeError() {
        int taken = error;
        error = 0;
        return taken;
    }

    int type() {
        return type;
    }

    boolean isFile() {
        return type == Kevent.S_IFREG;
    }

    @SuppressWarnings("ReferenceEquality") // compared by identity
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
        return isFile() ? 1 : backlog != null ? backlog.size() : reads ? in.bytes : 0;
    }

    long writable() {
        return isFile() ? 1 : writes ? Stream.CAPACITY - out.bytes : 0;
    }

    boolean isReadEnd() {
        return error != 0 || (reads && in.writerGone);
    }

    boolean isWriteEnd() {
        return error != 0 || (writes && (out.readerGone || out.writerGone));
    }

    long write(long address, long count) {
        if (error != 0 || !isConnected()) {
            return error != 0 ? -takeError() : -Errno.ENOTCONN;
        }
        if (out.readerGone || out.writerGone) {
            return -Errno.EPIPE;
        }
        long taken = Math.min(count, writable());
        out.put(address, taken);
        return taken == 0 ? -Errno.EAGAIN : taken;
    }

    long read(long address, long count) {
        if (error != 0 || !isConnected()) {
            return error != 0 ? -takeError() : -Errno.ENOTCONN;
        }
        long taken = Math.min(count, in.bytes);
        in.take(address, taken);
        return taken == 0 && !in.writerGone ? -Errno.EAGAIN : taken;
    }

    void shutDown() {
        out.writerGone = true;
    }

    void reset(int errno) {
        error = errno;
    }

    void close() {
        if (tcp && peer != null && in.bytes > 0) {
            peer.reset(Errno.ECONNRESET); // Closed with unread bytes.
        }
        in.readerGone = true;
        out.writerGone = true;
    }
}
