package dev.gyre.internal.sys;

/// Constants and struct layouts of Linux on x86-64 and aarch64, under their kernel names. Where the two
/// differ the difference is stated here once.
public final class Linux {
    public static final int EPOLL_CLOEXEC = 0x80000;
    public static final int EPOLL_CTL_ADD = 1;
    public static final int EPOLL_CTL_DEL = 2;
    public static final int EPOLL_CTL_MOD = 3;
    public static final int EPOLLIN = 0x001;
    public static final int EPOLLOUT = 0x004;
    public static final int EPOLLERR = 0x008;
    public static final int EPOLLHUP = 0x010;
    public static final int EPOLLONESHOT = 1 << 30;
    public static final int EPOLLET = 1 << 31;

    public static final int EFD_CLOEXEC = 0x80000;
    public static final int EFD_NONBLOCK = 0x800;

    public static final int CLOCK_MONOTONIC = 1;
    public static final int TFD_CLOEXEC = 0x80000;
    public static final int TFD_NONBLOCK = 0x800;
    public static final int TFD_TIMER_ABSTIME = 1;

    public static final int O_NONBLOCK = 0x800;
    public static final int O_CLOEXEC = 0x80000;
    public static final int F_GETFD = 1;
    public static final int F_GETFL = 3;
    public static final int F_SETFL = 4;
    public static final int FD_CLOEXEC = 1;

    public static final int AF_UNIX = 1;
    public static final int SOCK_STREAM = 1;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOCK_CLOEXEC = 0x80000;

    public static final int RLIMIT_NOFILE = 7;

    public static final int O_RDWR = 2;
    public static final int F_DUPFD_CLOEXEC = 1030;

    public static final int POSIX_SPAWN_SETPGROUP = 0x02;
    public static final int POSIX_SPAWN_SETSIGDEF = 0x04;
    public static final int POSIX_SPAWN_SETSIGMASK = 0x08;

    public static final int SYS_pidfd_send_signal = 424;
    public static final int SYS_pidfd_open = 434;

    public static final int P_PID = 1;
    public static final int P_PIDFD = 3;
    public static final int WNOHANG = 1;
    public static final int WEXITED = 4;
    public static final int WNOWAIT = 0x01000000;
    public static final int CLD_EXITED = 1;
    public static final int CLD_KILLED = 2;
    public static final int CLD_DUMPED = 3;

    /// `siginfo_t`, as `waitid` fills it in.
    public static final int SIZEOF_SIGINFO = 128;

    public static final int OFFSETOF_SIGINFO_CODE = 8;
    public static final int OFFSETOF_SIGINFO_PID = 16;
    public static final int OFFSETOF_SIGINFO_STATUS = 24;

    /// One number on both architectures: system calls since 5.1 share a table.
    public static final int SYS_io_uring_setup = 425;

    /// `struct io_uring_params`; its `features` word is at offset 20.
    public static final int SIZEOF_IO_URING_PARAMS = 120;

    public static final int OFFSETOF_IO_URING_PARAMS_FEATURES = 20;

    private static final boolean PACKED_EPOLL_EVENT = Platform.isX86();

    /// `struct epoll_event`: packed to 12 bytes on x86-64, so that 32-bit programs share the layout;
    /// naturally aligned, 16 bytes, everywhere else.
    public static final int SIZEOF_EPOLL_EVENT = PACKED_EPOLL_EVENT ? 12 : 16;

    public static final int OFFSETOF_EPOLL_EVENT_EVENTS = 0;
    public static final int OFFSETOF_EPOLL_EVENT_DATA = PACKED_EPOLL_EVENT ? 4 : 8;

    /// `struct timespec`: seconds, then nanoseconds.
    public static final int SIZEOF_TIMESPEC = 16;

    public static final int OFFSETOF_TIMESPEC_NANOS = 8;

    /// `struct itimerspec`: the interval, then the first expiration.
    public static final int SIZEOF_ITIMERSPEC = 32;

    public static final int OFFSETOF_ITIMERSPEC_VALUE = 16;

    /// `struct rlimit`: the current limit, then the hard one.
    public static final int SIZEOF_RLIMIT = 16;

    private Linux() {}
}
