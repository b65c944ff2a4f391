package dev.gyre.internal.io;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;

/// Receives and sends messages at once or not at all, by memory that all sockets of a loop share: one that waits for
/// messages holds none.
///
/// Loop thread only.
public final class MessageExchange implements AutoCloseable {
    private static final int ADDRESS_AT = Linux.SIZEOF_MSGHDR;
    private static final int VECTOR_AT = ADDRESS_AT + Linux.SIZEOF_SOCKADDR_STORAGE;

    private final Syscalls seam;

    /// The header, the address, and the one vector.
    private final NativeBytes memory = NativeBytes.allocate(VECTOR_AT + Linux.SIZEOF_IOVEC);

    private final NativeBytes address = memory.part(ADDRESS_AT, Linux.SIZEOF_SOCKADDR_STORAGE);
    private @Nullable RefCountedMemory room;

    public MessageExchange(Syscalls seam) {
        this.seam = seam;
    }

    /// Receives a message.
    ///
    /// @param most how long it can be without being cut
    /// @return its length, as far as there was room, or `-errno`
    public int receive(OpenDescriptor socket, int most) {
        RefCountedMemory into = room;
        if (into == null || into.bytes.size() < most) {
            into = new RefCountedMemory(NativeBytes.allocate(most), null);
            room = into;
        }
        describe(into.bytes.address(), most, Linux.SIZEOF_SOCKADDR_STORAGE);
        SocketCalls calls = seam.sockets().get();
        int result;
        do {
            result = socket.use(fd -> (int) calls.recvmsg(fd, memory.address(), 0));
        } while (result == -Errno.EINTR);
        return result;
    }

    /// The message that was received last, for as long as nobody calls [#takeBack].
    public NativeBuffer received(long length) {
        RefCountedMemory from = room;
        assert from != null : "nothing was received";
        NativeBuffer message = new NativeBuffer(from);
        message.filled(length);
        message.beginBorrowing();
        return message;
    }

    /// Where that came from.
    public SocketAddress from() {
        return SocketAddresses.decode(
                address, Memory.getInt(memory.address() + Linux.OFFSETOF_MSGHDR_NAMELEN));
    }

    /// Whether it was longer than the room for it.
    public boolean isTruncated() {
        int flags = Memory.getInt(memory.address() + Linux.OFFSETOF_MSGHDR_FLAGS);
        return (flags & Linux.MSG_TRUNC) != 0;
    }

    /// Has whoever still uses a received message hear that it is gone.
    public void takeBack(NativeBuffer message) {
        message.endBorrowing("the loop again, for the callback it was lent to has returned");
    }

    /// Sends what is readable in a buffer, and leaves it there.
    ///
    /// @param family of the socket
    /// @param to null for the socket's peer
    /// @return how many bytes, or `-errno`
    /// @throws IllegalArgumentException if a socket of that family does not get there
    public int send(OpenDescriptor socket, int family, Buffer message, @Nullable SocketAddress to) {
        int readable = message.readable(); // Also makes sure that nobody else has it.
        int addressLength = to == null ? 0 : SocketAddresses.encodeFor(family, to, address);
        describe(((NativeBuffer) message).readingAddress(), readable, addressLength);
        SocketCalls calls = seam.sockets().get();
        int result;
        do {
            result =
                    socket.use(fd -> (int) calls.sendmsg(fd, memory.address(), Linux.MSG_NOSIGNAL));
        } while (result == -Errno.EINTR);
        return result;
    }

    /// Chooses a peer.
    ///
    /// @return zero, or `-errno`
    /// @throws IllegalArgumentException if a socket of that family does not get there
    public int connect(OpenDescriptor socket, int family, SocketAddress to) {
        int length = SocketAddresses.encodeFor(family, to, address);
        SocketCalls calls = seam.sockets().get();
        int result;
        do {
            result = socket.use(fd -> calls.connect(fd, address.address(), length));
        } while (result == -Errno.EINTR);
        return result;
    }

    private void describe(long bytes, int length, int addressLength) {
        long header = memory.address();
        long vector = header + VECTOR_AT;
        Memory.putLong(vector, bytes);
        Memory.putLong(vector + Linux.OFFSETOF_IOVEC_LEN, length);
        Memory.putLong(
                header + Linux.OFFSETOF_MSGHDR_NAME, addressLength == 0 ? 0 : header + ADDRESS_AT);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_NAMELEN, addressLength);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_IOV, vector);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_IOVLEN, 1);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_FLAGS, 0);
    }

    /// Only a loop's belongings have an end, and this is one of them. The memory goes by itself.
    @Override
    public void close() {}
}
