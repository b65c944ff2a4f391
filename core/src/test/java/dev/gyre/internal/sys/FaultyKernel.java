package dev.gyre.internal.sys;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/// The real kernel with injected faults: any call can return any value. It also records the open
/// descriptors, to find leaks.
///
/// One plan serves all instances of a backend, so it is synchronised.
public final class FaultyKernel implements PollCalls {
    /// The faults to inject, and the calls made.
    public static final class Plan {
        private final Map<String, Deque<LongSupplier>> faults = new HashMap<>();
        private final List<String> calls = new ArrayList<>();
        private final List<Long> timeoutsNanos = new ArrayList<>();
        private final Set<Integer> open = new TreeSet<>();
        private long events;
        private volatile long openFiles = -1;

        /// The next call of that name returns `-errno` and does not reach the kernel.
        public synchronized Plan fail(String call, int errno) {
            return answer(call, () -> -errno);
        }

        /// The next `times` calls of that name return `-errno`.
        public synchronized Plan fail(String call, int errno, int times) {
            for (int i = 0; i < times; i++) {
                fail(call, errno);
            }
            return this;
        }

        /// The next call of that name returns the supplier's value and does not reach the kernel.
        public synchronized Plan answer(String call, LongSupplier result) {
            faults.computeIfAbsent(call, name -> new ArrayDeque<>()).add(result);
            return this;
        }

        /// Fakes the open-file limit; the kernel does not enforce it.
        public Plan openFiles(long limit) {
            openFiles = limit;
            return this;
        }

        public synchronized List<String> calls() {
            return List.copyOf(calls);
        }

        public synchronized long count(String call) {
            return calls.stream().filter(made -> made.startsWith(call + " ")).count();
        }

        /// Returns the timeouts of waits with nanosecond precision, in order.
        public synchronized List<Long> timeoutsNanos() {
            return List.copyOf(timeoutsNanos);
        }

        synchronized void sawTimeout(long nanos) {
            timeoutsNanos.add(nanos);
        }

        /// Returns the number of events of all waits.
        public synchronized long events() {
            return events;
        }

        synchronized int brought(int result) {
            events += Math.max(0, result);
            return result;
        }

        /// The descriptors that were opened and not closed.
        public synchronized Set<Integer> open() {
            return Set.copyOf(open);
        }

        synchronized @Nullable LongSupplier next(String call, int fd) {
            calls.add(call + " " + fd);
            Deque<LongSupplier> queue = faults.get(call);
            return queue == null ? null : queue.poll();
        }

        /// Records a detail of a call as a call of its own.
        synchronized void note(String what, int fd) {
            calls.add(what + " " + fd);
        }

        synchronized int opened(int fd) {
            if (fd >= 0) {
                open.add(fd);
            }
            return fd;
        }

        synchronized void closed(int fd) {
            if (!open.remove(fd)) {
                throw new AssertionError("close of a descriptor that is not open: " + fd);
            }
        }
    }

    private final PollCalls real = new LinuxPollCalls();
    private final Plan plan;

    public FaultyKernel(Plan plan) {
        this.plan = plan;
    }

    private long call(String name, int fd, LongSupplier really) {
        LongSupplier fault = plan.next(name, fd);
        return fault == null ? really.getAsLong() : fault.getAsLong();
    }

    @Override
    public int epollCreate1(int flags) {
        return plan.opened((int) call("epoll_create1", -1, () -> real.epollCreate1(flags)));
    }

    @Override
    public int epollCtl(int epfd, int operation, int fd, long eventAddress) {
        return (int) call("epoll_ctl", fd, () -> real.epollCtl(epfd, operation, fd, eventAddress));
    }

    @Override
    public int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis) {
        return plan.brought(
                (int)
                        call(
                                "epoll_wait",
                                epfd,
                                () ->
                                        real.epollWait(
                                                epfd, eventsAddress, maxEvents, timeoutMillis)));
    }

    @Override
    public int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress) {
        plan.sawTimeout(
                Memory.getLong(timespecAddress) * 1_000_000_000
                        + Memory.getLong(timespecAddress + Linux.OFFSETOF_TIMESPEC_NANOS));
        return plan.brought(
                (int)
                        call(
                                "epoll_pwait2",
                                epfd,
                                () ->
                                        real.epollPwait2(
                                                epfd, eventsAddress, maxEvents, timespecAddress)));
    }

    @Override
    public int eventfd(int initialValue, int flags) {
        return plan.opened((int) call("eventfd", -1, () -> real.eventfd(initialValue, flags)));
    }

    @Override
    public int timerfdCreate(int clockId, int flags) {
        return plan.opened(
                (int) call("timerfd_create", -1, () -> real.timerfdCreate(clockId, flags)));
    }

    @Override
    public int timerfdSettime(int fd, int flags, long newValueAddress) {
        return (int)
                call("timerfd_settime", fd, () -> real.timerfdSettime(fd, flags, newValueAddress));
    }

    @Override
    public long read(int fd, long address, long count) {
        return call("read", fd, () -> real.read(fd, address, count));
    }

    @Override
    public long write(int fd, long address, long count) {
        return call("write", fd, () -> real.write(fd, address, count));
    }

    @Override
    public int close(int fd) {
        plan.closed(fd);
        // An injected result does not keep the number open: Linux frees it even when close fails.
        int result = real.close(fd);
        return (int) call("close", fd, () -> result);
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        int result = (int) call("fcntl", fd, () -> real.fcntl(fd, command, argument));
        return command == Linux.F_DUPFD_CLOEXEC ? plan.opened(result) : result;
    }

    @Override
    public int pipe2(long pairAddress, int flags) {
        int result = (int) call("pipe2", -1, () -> real.pipe2(pairAddress, flags));
        if (result == 0) {
            plan.opened(Memory.getInt(pairAddress));
            plan.opened(Memory.getInt(pairAddress + Integer.BYTES));
        }
        return result;
    }

    @Override
    public int socketpair(int domain, int type, int protocol, long pairAddress) {
        int result =
                (int)
                        call(
                                "socketpair",
                                -1,
                                () -> real.socketpair(domain, type, protocol, pairAddress));
        if (result == 0) {
            plan.opened(Memory.getInt(pairAddress));
            plan.opened(Memory.getInt(pairAddress + Integer.BYTES));
        }
        return result;
    }

    @Override
    public int getrlimit(int resource, long rlimitAddress) {
        int result = (int) call("getrlimit", -1, () -> real.getrlimit(resource, rlimitAddress));
        if (result == 0 && resource == Linux.RLIMIT_NOFILE && plan.openFiles >= 0) {
            Memory.putLong(rlimitAddress, plan.openFiles);
        }
        return result;
    }
}
