package dev.gyre.internal.sys;

/// Constants and struct layouts of Linux on x86-64 and aarch64, under their kernel names. This
/// class alone knows where the two differ.
public final class Linux {
    public static final int EPOLL_CLOEXEC = 0x80000;
    public static final int EPOLL_CTL_ADD = 1;
    public static final int EPOLL_CTL_DEL = 2;
    public static final int EPOLL_CTL_MOD = 3;
    public static final int EPOLLIN = 0x001;
    public static final int EPOLLPRI = 0x002;
    public static final int EPOLLOUT = 0x004;
    public static final int EPOLLERR = 0x008;
    public static final int EPOLLHUP = 0x010;
    public static final int EPOLLRDHUP = 0x2000;
    public static final int EPOLLONESHOT = 1 << 30;
    public static final int EPOLLET = 1 << 31;

    public static final int POLLIN = 1;
    public static final int POLLOUT = 4;

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

    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0x40;
    public static final int O_EXCL = 0x80;
    public static final int O_TRUNC = 0x200;
    public static final int O_APPEND = 0x400;
    public static final int O_DSYNC = 0x1000;
    public static final int O_SYNC = 0x101000;
    public static final int O_ACCMODE = 3;
    public static final int O_NOCTTY = 0x100;

    public static final int AT_EMPTY_PATH = 0x1000;
    public static final int S_IFMT = 0xF000;
    public static final int S_IFIFO = 0x1000;
    public static final int S_IFCHR = 0x2000;
    public static final int S_IFSOCK = 0xC000;
    public static final int STATX_TYPE = 1;

    /// `struct statx`, the same on both architectures, unlike `struct stat`.
    public static final int SIZEOF_STATX = 256;

    public static final int OFFSETOF_STATX_MODE = 28;
    public static final int OFFSETOF_STATX_INO = 32;
    public static final int OFFSETOF_STATX_SIZE = 40;
    public static final int OFFSETOF_STATX_MTIME = 112;
    public static final int OFFSETOF_STATX_RDEV_MAJOR = 128;
    public static final int OFFSETOF_STATX_RDEV_MINOR = 132;

    public static final int SYS_statx = Platform.isX86() ? 332 : 291;

    public static final int MSG_OOB = 0x1;
    public static final int MSG_TRUNC = 0x20;
    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_MORE = 0x8000;
    public static final int MSG_NOSIGNAL = 0x4000;

    public static final int AF_UNIX = 1;
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;
    public static final int SOCK_STREAM = 1;
    public static final int SOCK_DGRAM = 2;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOCK_CLOEXEC = 0x80000;
    public static final int SOL_SOCKET = 1;
    public static final int SO_REUSEADDR = 2;
    public static final int SO_TYPE = 3;
    public static final int SO_ERROR = 4;
    public static final int SO_BROADCAST = 6;
    public static final int SO_SNDBUF = 7;
    public static final int SO_RCVBUF = 8;
    public static final int SO_KEEPALIVE = 9;
    public static final int SO_LINGER = 13;
    public static final int SO_REUSEPORT = 15;
    public static final int SO_ATTACH_REUSEPORT_CBPF = 51;
    public static final int IPPROTO_TCP = 6;
    public static final int TCP_NODELAY = 1;
    public static final int TCP_KEEPIDLE = 4;
    public static final int TCP_KEEPINTVL = 5;
    public static final int TCP_KEEPCNT = 6;
    public static final int TCP_USER_TIMEOUT = 18;
    public static final int IPPROTO_IPV6 = 41;
    public static final int IPV6_V6ONLY = 26;
    public static final int SHUT_RD = 0;
    public static final int SHUT_WR = 1;
    public static final int SHUT_RDWR = 2;
    public static final int SPLICE_F_MOVE = 1;
    public static final int SPLICE_F_NONBLOCK = 2;
    public static final int AT_FDCWD = -100;
    public static final int STATX_BASIC_STATS = 0x7ff;

    /// `struct sock_fprog`: the number of instructions in two bytes, then their address.
    public static final int SIZEOF_SOCK_FPROG = 16;

    public static final int OFFSETOF_SOCK_FPROG_FILTER = 8;

    /// `struct sock_filter`: the code in two bytes, two jumps of one byte each, then the operand.
    public static final int SIZEOF_SOCK_FILTER = 8;

    public static final int BPF_LD_W_ABS = 0x20;
    public static final int BPF_ALU_MOD_K = 0x94;
    public static final int BPF_RET_A = 0x16;

    /// The operand of a load that reads the processor's number, not the packet.
    public static final int SKF_AD_OFF_CPU = -0x1000 + 36;

    /// `struct linger`: on or off, then the seconds.
    public static final int SIZEOF_LINGER = 8;

    public static final int SIZEOF_SOCKADDR_STORAGE = 128;
    public static final int SIZEOF_SOCKADDR_IN = 16;
    public static final int SIZEOF_SOCKADDR_IN6 = 28;
    public static final int OFFSETOF_SOCKADDR_PORT = 2;
    public static final int OFFSETOF_SOCKADDR_IN_ADDRESS = 4;
    public static final int OFFSETOF_SOCKADDR_IN6_ADDRESS = 8;
    public static final int OFFSETOF_SOCKADDR_IN6_SCOPE = 24;
    public static final int OFFSETOF_SOCKADDR_UN_PATH = 2;
    public static final int SIZEOF_SOCKADDR_UN_PATH = 108;

    public static final int SIZEOF_MSGHDR = 56;
    public static final int OFFSETOF_MSGHDR_NAME = 0;
    public static final int OFFSETOF_MSGHDR_NAMELEN = 8;
    public static final int OFFSETOF_MSGHDR_IOV = 16;
    public static final int OFFSETOF_MSGHDR_IOVLEN = 24;
    public static final int OFFSETOF_MSGHDR_FLAGS = 48;

    public static final int SIZEOF_POLLFD = 8;
    public static final int OFFSETOF_POLLFD_EVENTS = 4;
    public static final int OFFSETOF_POLLFD_REVENTS = 6;

    /// `struct iovec`: the address, then the length.
    public static final int SIZEOF_IOVEC = 16;

    public static final int OFFSETOF_IOVEC_LEN = 8;

    /// The maximum number of vectors of one call.
    public static final int IOV_MAX = 1024;

    public static final int TCSANOW = 0;
    public static final int TIOCGWINSZ = 0x5413;

    /// `struct winsize`: rows, then columns, of two bytes each; then the same in pixels.
    public static final int SIZEOF_WINSIZE = 8;

    public static final int OFFSETOF_WINSIZE_COLUMNS = 2;

    public static final int RLIMIT_NOFILE = 7;

    public static final int SIG_BLOCK = 0;
    public static final int SFD_CLOEXEC = 0x80000;
    public static final int SFD_NONBLOCK = 0x800;
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

    public static final int IN_CLOEXEC = 0x80000;
    public static final int IN_NONBLOCK = 0x800;
    public static final int IN_MODIFY = 0x2;
    public static final int IN_CLOSE_WRITE = 0x8;
    public static final int IN_MOVED_FROM = 0x40;
    public static final int IN_MOVED_TO = 0x80;
    public static final int IN_CREATE = 0x100;
    public static final int IN_DELETE = 0x200;
    public static final int IN_DELETE_SELF = 0x400;
    public static final int IN_MOVE_SELF = 0x800;
    public static final int IN_UNMOUNT = 0x2000;
    public static final int IN_Q_OVERFLOW = 0x4000;
    public static final int IN_IGNORED = 0x8000;
    public static final int IN_ONLYDIR = 0x01000000;
    public static final int IN_DONT_FOLLOW = 0x02000000;
    public static final int IN_EXCL_UNLINK = 0x04000000;
    public static final int IN_ISDIR = 0x40000000;

    /// The maximum length of a path, including the final NUL.
    public static final int PATH_MAX = 4096;

    /// The maximum length of a directory entry's name, without the final NUL.
    public static final int NAME_MAX = 255;

    /// `struct inotify_event`: the watch at offset 0, then these fields, then the name, padded with
    /// NULs.
    public static final int SIZEOF_INOTIFY_EVENT = 16;

    public static final int OFFSETOF_INOTIFY_EVENT_MASK = 4;
    public static final int OFFSETOF_INOTIFY_EVENT_COOKIE = 8;
    public static final int OFFSETOF_INOTIFY_EVENT_LEN = 12;

    private static final boolean PACKED_EPOLL_EVENT = Platform.isX86();

    /// `struct epoll_event`: packed to 12 bytes on x86-64, so that 32-bit programs share the
    /// layout; naturally aligned to 16 bytes on other architectures.
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

    /// `sigset_t` of libc; the kernel uses the first eight bytes, one bit per signal.
    public static final int SIZEOF_SIGSET = 128;

    /// `struct signalfd_siginfo`: the number of the signal, then its sender and reason.
    public static final int SIZEOF_SIGNALFD_SIGINFO = 128;

    public static final int OFFSETOF_SIGNALFD_SIGINFO_SIGNO = 0;

    private Linux() {}
}
