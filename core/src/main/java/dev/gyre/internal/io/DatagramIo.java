package dev.gyre.internal.io;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.function.IntUnaryOperator;

/// Receives and sends messages without waiting. All datagram sockets of a loop share its memory: a
/// socket that waits for messages holds none.
///
/// Loop thread only.
public final class DatagramIo implements AutoCloseable {
    private final SyscallFactories syscalls;
    private final Header header = new Header();
    private @Nullable RefCountedMemory receiveMemory;

    /// A `msghdr` in native memory, followed by its address and its one `iovec`.
    static final class Header {
        private static final int ADDRESS_AT = Linux.SIZEOF_MSGHDR;
        private static final int VECTOR_AT = ADDRESS_AT + Linux.SIZEOF_SOCKADDR_STORAGE;

        final NativeBytes memory = NativeBytes.allocate(VECTOR_AT + Linux.SIZEOF_IOVEC);
        final NativeBytes address = memory.part(ADDRESS_AT, Linux.SIZEOF_SOCKADDR_STORAGE);

        /// @param addressLength zero for no address
        void fill(long bytes, int length, int addressLength) {
            long header = memory.address();
            long vector = header + VECTOR_AT;
            Memory.putLong(vector, bytes);
            Memory.putLong(vector + Linux.OFFSETOF_IOVEC_LEN, length);
            Memory.putLong(
                    header + Linux.OFFSETOF_MSGHDR_NAME,
                    addressLength == 0 ? 0 : header + ADDRESS_AT);
            Memory.putLong(header + Linux.OFFSETOF_MSGHDR_NAMELEN, addressLength);
            Memory.putLong(header + Linux.OFFSETOF_MSGHDR_IOV, vector);
            Memory.putLong(header + Linux.OFFSETOF_MSGHDR_IOVLEN, 1);
            Memory.putLong(header + Linux.OFFSETOF_MSGHDR_FLAGS, 0);
        }

        int addressLength() {
            return Memory.getInt(memory.address() + Linux.OFFSETOF_MSGHDR_NAMELEN);
        }

        boolean isTruncated() {
            int flags = Memory.getInt(memory.address() + Linux.OFFSETOF_MSGHDR_FLAGS);
            return (flags & Linux.MSG_TRUNC) != 0;
        }
    }

    public DatagramIo(SyscallFactories syscalls) {
        this.syscalls = syscalls;
    }

    /// Returns the received length, at most `maxBytes`, or `-errno`.
    public int receive(OpenDescriptor socket, int maxBytes) {
        RefCountedMemory into = receiveMemory;
        if (into == null || into.bytes.size() < maxBytes) {
            into = new RefCountedMemory(NativeBytes.allocate(maxBytes), null);
            receiveMemory = into;
        }
        header.fill(into.bytes.address(), maxBytes, Linux.SIZEOF_SOCKADDR_STORAGE);
        SocketCalls calls = syscalls.sockets().get();
        return retry(socket, fd -> (int) calls.recvmsg(fd, header.memory.address(), 0));
    }

    /// Returns the last received message. It is valid until [#takeBack].
    public NativeBuffer received(long length) {
        RefCountedMemory from = receiveMemory;
        assert from != null : "nothing was received";
        NativeBuffer message = new NativeBuffer(from);
        message.advanceWriteIndex(length);
        message.beginBorrowing();
        return message;
    }

    public SocketAddress from() {
        return SocketAddresses.decode(header.address, header.addressLength());
    }

    public boolean isTruncated() {
        return header.isTruncated();
    }

    /// Ends the loan of a received message. Later uses of it throw.
    public void takeBack(NativeBuffer message) {
        message.endBorrowing("the loop again: the callback that it was lent to has returned");
    }

    /// Sends the readable bytes of a buffer, and leaves them in it.
    ///
    /// @param family the address family of the socket
    /// @param to null for the socket's peer
    /// @return the number of bytes, or `-errno`
    /// @throws IllegalArgumentException if a socket of the family cannot reach the address
    public int send(OpenDescriptor socket, int family, Buffer message, @Nullable SocketAddress to) {
        int readable = message.readable(); // Throws if an operation has the buffer.
        int addressLength = to == null ? 0 : SocketAddresses.encodeFor(family, to, header.address);
        header.fill(((NativeBuffer) message).readAddress(), readable, addressLength);
        SocketCalls calls = syscalls.sockets().get();
        return retry(
                socket, fd -> (int) calls.sendmsg(fd, header.memory.address(), Linux.MSG_NOSIGNAL));
    }

    /// Returns zero, or `-errno`.
    ///
    /// @throws IllegalArgumentException if a socket of the family cannot reach the address
    public int connect(OpenDescriptor socket, int family, SocketAddress to) {
        int length = SocketAddresses.encodeFor(family, to, header.address);
        SocketCalls calls = syscalls.sockets().get();
        return retry(socket, fd -> calls.connect(fd, header.address.address(), length));
    }

    /// Repeats a call until no signal interrupts it.
    private static int retry(OpenDescriptor socket, IntUnaryOperator call) {
        int result;
        do {
            result = socket.use(call);
        } while (result == -Errno.EINTR);
        return result;
    }

    /// Does nothing: a resource that a loop owns is closeable, but the garbage collector frees
    /// this.
    @Override
    public void close() {}
}
