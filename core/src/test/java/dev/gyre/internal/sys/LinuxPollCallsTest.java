package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;

/// Each binding makes its call: arguments in their positions, results and errno of the kernel.
class LinuxPollCallsTest {
    private final PollCalls kernel = new LinuxPollCalls();
    private final MemorySegment memory = Memory.allocate(256);
    private final long address = memory.address();

    @Test
    @Clause({"B-7", "E-2"})
    void refusal_ofAnyCall_isMinusErrno() {
        assertThat(kernel.close(-1)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.read(-1, address, 8)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.write(-1, address, 8)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.epollCreate1(-1)).isEqualTo(-Errno.EINVAL);
        assertThat(kernel.epollCtl(-1, Linux.EPOLL_CTL_ADD, 0, address)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.epollWait(-1, address, 1, 0)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.epollPwait2(-1, address, 1, address)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.eventfd(0, -1)).isEqualTo(-Errno.EINVAL);
        assertThat(kernel.timerfdCreate(-1, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(kernel.timerfdSettime(-1, 0, address)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.pipe2(address, -1)).isEqualTo(-Errno.EINVAL);
        assertThat(kernel.fcntl(-1, Linux.F_GETFL, 0)).isEqualTo(-Errno.EBADF);
        assertThat(kernel.getrlimit(-1, address)).isEqualTo(-Errno.EINVAL);
        assertThat(kernel.socketpair(-1, 0, 0, address)).isNegative();
        UringCalls uring = new LinuxUringCalls();
        assertThat(uring.setup(0, address)).isNegative();
        assertThat(uring.enter(-1, 0, 0, 0, 0, 0)).isNegative();
        assertThat(uring.register(-1, 0, 0, 0)).isNegative();
        assertThat(uring.mmap(4096, -1, 0)).isEqualTo(-Errno.EBADF);
        assertThat(uring.munmap(1, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(uring.madvise(1, 1, 0)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    @Clause("B-7")
    void eventfd_countsWhatIsWritten() {
        int fd = kernel.eventfd(3, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
        assertThat(fd).isNotNegative();
        Memory.putLong(address, 4);
        assertThat(kernel.write(fd, address, 8)).isEqualTo(8);
        assertThat(kernel.read(fd, address, 8)).isEqualTo(8);
        assertThat(Memory.getLong(address)).isEqualTo(7);
        assertThat(kernel.read(fd, address, 8)).isEqualTo(-Errno.EAGAIN);
        assertThat(kernel.fcntl(fd, Linux.F_GETFD, 0)).isEqualTo(Linux.FD_CLOEXEC);
        assertThat(kernel.close(fd)).isZero();
    }

    @Test
    @Clause("B-7")
    void socketpair_andPipe_carryBytes() {
        int[] results = {
            kernel.socketpair(
                    Linux.AF_UNIX,
                    Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC,
                    0,
                    address),
            kernel.pipe2(address + 8, Linux.O_NONBLOCK | Linux.O_CLOEXEC)
        };
        assertThat(results).containsOnly(0);
        for (int pair = 0; pair < 2; pair++) {
            int reader = Memory.getInt(address + pair * 8L);
            int writer = Memory.getInt(address + pair * 8L + 4);
            Memory.putLong(address + 64, 0x0123_4567_89AB_CDEFL);
            assertThat(kernel.write(writer, address + 64, 8)).isEqualTo(8);
            assertThat(kernel.read(reader, address + 72, 8)).isEqualTo(8);
            assertThat(Memory.getLong(address + 72)).isEqualTo(0x0123_4567_89AB_CDEFL);
            assertThat(kernel.fcntl(reader, Linux.F_GETFL, 0) & Linux.O_NONBLOCK)
                    .isEqualTo(Linux.O_NONBLOCK);
            assertThat(kernel.close(reader)).isZero();
            assertThat(kernel.close(writer)).isZero();
        }
    }

    @Test
    @Clause("B-7")
    void timerfd_setToAnAbsoluteInstant_expiresThenAndNotBefore() {
        int fd = kernel.timerfdCreate(Linux.CLOCK_MONOTONIC, Linux.TFD_CLOEXEC);
        long deadline = System.nanoTime() + 2_000_000;
        Memory.putLong(address + Linux.OFFSETOF_ITIMERSPEC_VALUE, deadline / 1_000_000_000);
        Memory.putLong(
                address + Linux.OFFSETOF_ITIMERSPEC_VALUE + Linux.OFFSETOF_TIMESPEC_NANOS,
                deadline % 1_000_000_000);
        assertThat(kernel.timerfdSettime(fd, Linux.TFD_TIMER_ABSTIME, address)).isZero();
        assertThat(kernel.read(fd, address + 64, 8)).isEqualTo(8);
        assertThat(System.nanoTime() - deadline)
                .as("nanoTime is CLOCK_MONOTONIC, as the backend assumes")
                .isNotNegative();
        assertThat(kernel.close(fd)).isZero();
    }

    @Test
    @Clause("B-7")
    void epollEvent_layout_bringsTheDataBack() {
        int epfd = kernel.epollCreate1(Linux.EPOLL_CLOEXEC);
        int fd = kernel.eventfd(1, Linux.EFD_CLOEXEC);
        Memory.putInt(address + Linux.OFFSETOF_EPOLL_EVENT_EVENTS, Linux.EPOLLIN);
        Memory.putLong(address + Linux.OFFSETOF_EPOLL_EVENT_DATA, 0x7654_3210_89AB_CDEFL);
        assertThat(kernel.epollCtl(epfd, Linux.EPOLL_CTL_ADD, fd, address)).isZero();
        long events = address + 64;
        assertThat(kernel.epollWait(epfd, events, 2, -1)).isEqualTo(1);
        assertThat(Memory.getInt(events + Linux.OFFSETOF_EPOLL_EVENT_EVENTS))
                .isEqualTo(Linux.EPOLLIN);
        assertThat(Memory.getLong(events + Linux.OFFSETOF_EPOLL_EVENT_DATA))
                .isEqualTo(0x7654_3210_89AB_CDEFL);
        kernel.close(fd);
        kernel.close(epfd);
    }

    @Test
    void openFiles_isWhatTheShellWouldSay() {
        DescriptorLimit.OpenFiles limit = DescriptorLimit.openFiles();
        assertThat(limit.current()).isPositive().isLessThanOrEqualTo(limit.hard());
    }
}
