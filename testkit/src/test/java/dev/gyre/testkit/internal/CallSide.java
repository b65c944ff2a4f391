package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// One of two kernels that run the same program. Calls use handles, so that descriptor numbers may
/// differ.
final class CallSide implements AutoCloseable {
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int ROOM = 1 << 18;
    private static final int MAX_EVENTS = 64;

    private final PollCalls kernel;
    private final SocketCalls sockets;
    private final MemorySegment memory = Memory.allocate(ROOM);
    private final List<Integer> numbers = new ArrayList<>();
    private final int epfd;

    CallSide(SyscallFactories syscalls) {
        kernel = syscalls.kernels().get();
        sockets = syscalls.sockets().get();
        epfd = kernel.epollCreate1(Linux.EPOLL_CLOEXEC);
    }

    int handles() {
        return numbers.size();
    }

    int number(int handle) {
        return numbers.get(handle);
    }

    /// Returns the next handle for a number; an error is returned unchanged.
    private int added(int result) {
        if (result < 0) {
            return result;
        }
        numbers.add(result);
        return 0;
    }

    int pipe() {
        return addedPair(kernel.pipe2(memory.address(), Linux.O_NONBLOCK | Linux.O_CLOEXEC));
    }

    int socketPair() {
        int type = Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
        return addedPair(kernel.socketpair(Linux.AF_UNIX, type, 0, memory.address()));
    }

    private int addedPair(int result) {
        if (result == 0) {
            numbers.add(Memory.getInt(memory.address()));
            numbers.add(Memory.getInt(memory.address() + Integer.BYTES));
        }
        return result;
    }

    int eventfd() {
        return added(kernel.eventfd(0, Linux.EFD_NONBLOCK | Linux.EFD_CLOEXEC));
    }

    int socket(int type) {
        int flags = Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
        int result = added(sockets.socket(Linux.AF_INET, type | flags, 0));
        if (result == 0 && type == Linux.SOCK_STREAM) {
            // Otherwise small writes wait on the real side for the acknowledgement of earlier ones.
            Memory.putInt(memory.address(), 1);
            int fd = numbers.getLast();
            sockets.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, memory.address(), Integer.BYTES);
        }
        return result;
    }

    /// The loopback address with any port.
    int bind(int handle) {
        putLoopback(0);
        return sockets.bind(number(handle), memory.address(), Linux.SIZEOF_SOCKADDR_IN);
    }

    /// The port in network byte order.
    int port(int handle) {
        long address = memory.address();
        Memory.putInt(address + 128, 128);
        int result = sockets.getsockname(number(handle), address, address + 128);
        return result < 0 ? result : Memory.getInt(address) >>> 16;
    }

    private void putLoopback(int port) {
        Memory.putInt(memory.address(), port << 16 | Linux.AF_INET);
        Memory.putBytes(memory.address() + 4, new byte[] {127, 0, 0, 1}, 0, 4);
        Memory.putLong(memory.address() + 8, 0);
    }

    int listen(int handle, int backlog) {
        return sockets.listen(number(handle), backlog);
    }

    int connect(int handle, int to) {
        putLoopback(port(to));
        return sockets.connect(number(handle), memory.address(), Linux.SIZEOF_SOCKADDR_IN);
    }

    int accept(int handle) {
        return added(
                sockets.accept4(number(handle), 0, 0, Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC));
    }

    long write(int handle, byte[] bytes) {
        Memory.putBytes(memory.address(), bytes, 0, bytes.length);
        return kernel.write(number(handle), memory.address(), bytes.length);
    }

    long send(int handle, byte[] bytes, int flags) {
        Memory.putBytes(memory.address(), bytes, 0, bytes.length);
        return sockets.send(
                number(handle), memory.address(), bytes.length, flags | Linux.MSG_NOSIGNAL);
    }

    /// Returns the result and the received bytes.
    record Received(long result, int hash) {
        @Override
        public String toString() {
            return (result < 0 ? Errno.name((int) -result) : result + "#" + hash);
        }
    }

    Received read(int handle, int count) {
        return received(kernel.read(number(handle), memory.address(), count));
    }

    Received receive(int handle, int count, int flags) {
        return received(sockets.recv(number(handle), memory.address(), count, flags));
    }

    private Received received(long result) {
        if (result <= 0) {
            return new Received(result, 0);
        }
        byte[] bytes = new byte[(int) result];
        Memory.getBytes(memory.address(), bytes, 0, bytes.length);
        int hash = 7;
        for (byte b : bytes) {
            hash = 31 * hash + b;
        }
        return new Received(result, hash);
    }

    int shutdown(int handle, int how) {
        return sockets.shutdown(number(handle), how);
    }

    int takeError(int handle) {
        long address = memory.address();
        Memory.putInt(address, 0);
        Memory.putInt(address + 8, 4);
        int result =
                sockets.getsockopt(
                        number(handle), Linux.SOL_SOCKET, Linux.SO_ERROR, address, address + 8);
        return result < 0 ? result : Memory.getInt(address);
    }

    int hasPeer(int handle) {
        long address = memory.address();
        Memory.putInt(address + 128, 128);
        return sockets.getpeername(number(handle), address, address + 128);
    }

    int closeHandle(int handle) {
        int result = kernel.close(number(handle));
        numbers.set(handle, -1);
        return result;
    }

    int control(int operation, int handle, int mask) {
        long address = memory.address();
        Memory.putInt(address + Linux.OFFSETOF_EPOLL_EVENT_EVENTS, mask);
        Memory.putLong(address + Linux.OFFSETOF_EPOLL_EVENT_DATA, handle);
        return kernel.epollCtl(epfd, operation, number(handle), address);
    }

    /// Ready bits by handle.
    Map<Long, Integer> waitNow() {
        long address = memory.address();
        int count = kernel.epollWait(epfd, address, MAX_EVENTS, 0);
        Map<Long, Integer> events = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            long event = address + (long) i * Linux.SIZEOF_EPOLL_EVENT;
            events.put(
                    Memory.getLong(event + Linux.OFFSETOF_EPOLL_EVENT_DATA),
                    Memory.getInt(event + Linux.OFFSETOF_EPOLL_EVENT_EVENTS));
        }
        return events;
    }

    int ready(int handle) {
        int all = Linux.EPOLLIN | Linux.EPOLLOUT | Linux.EPOLLPRI | Linux.EPOLLRDHUP;
        return sockets.pollOne(number(handle), all);
    }

    @Override
    public void close() {
        for (int number : numbers) {
            if (number >= 0) {
                kernel.close(number);
            }
        }
        kernel.close(epfd);
    }
}
