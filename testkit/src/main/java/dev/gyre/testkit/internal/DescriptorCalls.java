package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SignalCalls;

import java.util.List;

/// Implements [PollCalls] and [SignalCalls] on a simulated kernel.
public final class DescriptorCalls implements PollCalls, SignalCalls {
    private static final int F_DUPFD = 0;
    private static final int F_SETFD = 2;
    private static final long NANOS_PER_MILLISECOND = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final SimulatedKernel kernel;

    public DescriptorCalls(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    // ------------------------------------------------------------------ polling

    @Override
    public int epollCreate1(int flags) {
        synchronized (kernel) {
            return kernel.number(new PollSet(kernel));
        }
    }

    @Override
    public int epollCtl(int epfd, int operation, int fd, long eventAddress) {
        synchronized (kernel) {
            if (!(kernel.descriptors.find(epfd) instanceof PollSet set)) {
                return -Errno.EBADF;
            }
            boolean removes = operation == Linux.EPOLL_CTL_DEL;
            int mask =
                    removes ? 0 : Memory.getInt(eventAddress + Linux.OFFSETOF_EPOLL_EVENT_EVENTS);
            long data =
                    removes ? 0 : Memory.getLong(eventAddress + Linux.OFFSETOF_EPOLL_EVENT_DATA);
            return set.control(operation, fd, mask, data);
        }
    }

    @Override
    public int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis) {
        return waitFor(
                epfd,
                eventsAddress,
                maxEvents,
                timeoutMillis < 0 ? Long.MAX_VALUE : timeoutMillis * NANOS_PER_MILLISECOND);
    }

    @Override
    public int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress) {
        long nanos =
                timespecAddress == 0
                        ? Long.MAX_VALUE
                        : Memory.getLong(timespecAddress) * NANOS_PER_SECOND
                                + Memory.getLong(timespecAddress + Linux.OFFSETOF_TIMESPEC_NANOS);
        return waitFor(epfd, eventsAddress, maxEvents, nanos);
    }

    private int waitFor(int epfd, long eventsAddress, int maxEvents, long timeoutNanos) {
        long deadline = kernel.nanoTime() + Math.min(timeoutNanos, Long.MAX_VALUE / 2);
        while (true) {
            kernel.runDue();
            synchronized (kernel) {
                if (!(kernel.descriptors.find(epfd) instanceof PollSet set)) {
                    return -Errno.EBADF;
                }
                List<PollSet.Event> events = set.collect(maxEvents);
                if (!events.isEmpty() || deadline - kernel.nanoTime() <= 0) {
                    store(events, eventsAddress);
                    return events.size();
                }
                boolean anything = kernel.hasEvents() && kernel.nextNanos() - deadline < 0;
                if (!anything && timeoutNanos == Long.MAX_VALUE) {
                    throw kernel.failure("epoll_wait would wait forever");
                }
                kernel.moveTo(anything ? kernel.nextNanos() : deadline);
            }
        }
    }

    private static void store(List<PollSet.Event> events, long address) {
        long at = address;
        for (PollSet.Event event : events) {
            Memory.putInt(at + Linux.OFFSETOF_EPOLL_EVENT_EVENTS, event.ready());
            Memory.putLong(at + Linux.OFFSETOF_EPOLL_EVENT_DATA, event.data());
            at += Linux.SIZEOF_EPOLL_EVENT;
        }
    }

    // ------------------------------------------------------------------ creating

    @Override
    public int eventfd(int initialValue, int flags) {
        synchronized (kernel) {
            int status = flags & Linux.EFD_NONBLOCK;
            return kernel.transfers.traced(
                    "eventfd", -1, kernel.number(new EventCounter(kernel, initialValue, status)));
        }
    }

    /// Not supported: only the backend waits for time.
    @Override
    public int timerfdCreate(int clockId, int flags) {
        return -Errno.ENOSYS;
    }

    @Override
    public int timerfdSettime(int fd, int flags, long newValueAddress) {
        return -Errno.EBADF;
    }

    @Override
    public int pipe2(long pairAddress, int flags) {
        synchronized (kernel) {
            PipeEnd[] ends = PipeEnd.open(kernel, flags & Linux.O_NONBLOCK);
            return tracedPair(
                    "pipe2", kernel.numberPair(ends[0], ends[1], pairAddress), pairAddress);
        }
    }

    @Override
    public int socketpair(int domain, int type, int protocol, long pairAddress) {
        if (domain != Linux.AF_UNIX || (type & 0xf) != Linux.SOCK_STREAM) {
            return -Errno.EOPNOTSUPP;
        }
        synchronized (kernel) {
            UnixSocket[] ends = UnixSocket.pair(kernel, type & Linux.SOCK_NONBLOCK);
            return tracedPair(
                    "socketpair", kernel.numberPair(ends[0], ends[1], pairAddress), pairAddress);
        }
    }

    private int tracedPair(String call, int result, long pairAddress) {
        if (result == 0) {
            kernel.note(
                    call
                            + " = "
                            + Memory.getInt(pairAddress)
                            + ", "
                            + Memory.getInt(pairAddress + Integer.BYTES));
            return 0;
        }
        return kernel.transfers.traced(call, -1, result);
    }

    @Override
    public int signalfd(int fd, long setAddress, int flags) {
        synchronized (kernel) {
            if (fd != -1) {
                return -Errno.EINVAL; // Changing an open one is not supported.
            }
            SignalFile file =
                    new SignalFile(kernel, Memory.getLong(setAddress), flags & Linux.SFD_NONBLOCK);
            int number = kernel.number(file);
            if (number >= 0) {
                kernel.signalFiles.add(file);
            }
            return kernel.transfers.traced("signalfd", -1, number);
        }
    }

    /// Does nothing: signals are only delivered by descriptors.
    @Override
    public int pthreadSigmask(int how, long setAddress, long oldSetAddress) {
        if (setAddress != 0) {
            return -Errno.EINVAL;
        }
        Memory.putLong(oldSetAddress, -1);
        return 0;
    }

    // ------------------------------------------------------------------ using

    @Override
    public long read(int fd, long address, long count) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            if (file == null) {
                return kernel.transfers.traced("read", fd, (long) -Errno.EBADF);
            }
            return kernel.transfers.read("read", fd, file, address, count, 0, file::read);
        }
    }

    @Override
    public long write(int fd, long address, long count) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            if (file == null) {
                return kernel.transfers.traced("write", fd, (long) -Errno.EBADF);
            }
            return kernel.transfers.write("write", fd, file, address, count, 0, file::write);
        }
    }

    @Override
    public int close(int fd) {
        synchronized (kernel) {
            return kernel.transfers.traced("close", fd, kernel.descriptors.close(fd));
        }
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            if (file == null) {
                return -Errno.EBADF;
            }
            return switch (command) {
                case Linux.F_GETFD -> Linux.FD_CLOEXEC;
                case F_SETFD -> 0;
                case Linux.F_GETFL -> file.statusFlags;
                case Linux.F_SETFL -> {
                    int changeable = Linux.O_NONBLOCK | Linux.O_APPEND;
                    file.statusFlags = (file.statusFlags & ~changeable) | (argument & changeable);
                    yield 0;
                }
                case F_DUPFD, Linux.F_DUPFD_CLOEXEC ->
                        kernel.transfers.traced("dup", fd, kernel.descriptors.add(file));
                default -> -Errno.EINVAL;
            };
        }
    }

    @Override
    public int getrlimit(int resource, long rlimitAddress) {
        synchronized (kernel) {
            if (resource != Linux.RLIMIT_NOFILE) {
                return -Errno.EINVAL;
            }
            Memory.putLong(rlimitAddress, kernel.descriptors.limit);
            Memory.putLong(rlimitAddress + Long.BYTES, kernel.descriptors.limit);
            return 0;
        }
    }
}
