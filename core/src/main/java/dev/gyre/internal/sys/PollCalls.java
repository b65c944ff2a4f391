package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/// The system calls of descriptors and epoll. Together with the other `*Calls` interfaces this is
/// the boundary to the kernel: every native call of Gyre goes through one of them. Tests substitute
/// implementations that return any value or errno. While only [LinuxPollCalls] is loaded, the
/// JIT sees one implementation and calls it directly, so the interface costs nothing.
///
/// **Results** are those of the kernel, before libc: zero or positive on success, and `-errno` if
/// refused. Callers have no separate errno to read.
///
/// **Threads.** One instance serves one thread at a time, because it owns the memory that captures
/// errno. Shared instances need a lock. Addresses are raw: the caller keeps the memory alive.
public interface PollCalls {
    int epollCreate1(int flags);

    int epollCtl(int epfd, int operation, int fd, long eventAddress);

    int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis);

    /// Returns `-ENOSYS` if libc lacks the call.
    int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress);

    int eventfd(int initialValue, int flags);

    int timerfdCreate(int clockId, int flags);

    int timerfdSettime(int fd, int flags, long newValueAddress);

    long read(int fd, long address, long count);

    long write(int fd, long address, long count);

    int close(int fd);

    int fcntl(int fd, int command, int argument);

    int pipe2(long pairAddress, int flags);

    int socketpair(int domain, int type, int protocol, long pairAddress);

    int getrlimit(int resource, long rlimitAddress);

    /// The two descriptors that some calls return. Reading them after the call keeps the memory
    /// alive during it.
    final class FdPair {
        private final MemorySegment memory = Memory.allocate(2 * Integer.BYTES);

        public long address() {
            return memory.address();
        }

        public int first() {
            return memory.get(JAVA_INT, 0);
        }

        public int second() {
            return memory.get(JAVA_INT, Integer.BYTES);
        }
    }
}
