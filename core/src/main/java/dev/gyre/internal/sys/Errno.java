package dev.gyre.internal.sys;

import dev.gyre.SystemCallException;
import dev.gyre.SystemCallException.Kind;

import java.lang.reflect.Field;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.HashMap;
import java.util.Map;

/// Error numbers of Linux, the same on x86-64 and aarch64, with their names, kinds and hints.
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int E2BIG = 7;
    public static final int ENOEXEC = 8;
    public static final int EBADF = 9;
    public static final int ECHILD = 10;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int ENOTTY = 25;
    public static final int ETXTBSY = 26;
    public static final int ENOSPC = 28;
    public static final int EPIPE = 32;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ELOOP = 40;
    public static final int EBADR = 53;
    public static final int ETIME = 62;
    public static final int ENONET = 64;
    public static final int ENOTSOCK = 88;
    public static final int EDESTADDRREQ = 89;
    public static final int EMSGSIZE = 90;
    public static final int ENOPROTOOPT = 92;
    public static final int EOPNOTSUPP = 95;
    public static final int EAFNOSUPPORT = 97;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETDOWN = 100;
    public static final int ENETUNREACH = 101;
    public static final int EPROTO = 71;
    public static final int ECONNABORTED = 103;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int EISCONN = 106;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTDOWN = 112;
    public static final int EHOSTUNREACH = 113;
    public static final int EALREADY = 114;
    public static final int EINPROGRESS = 115;
    public static final int ECANCELED = 125;

    private Errno() {}

    /// The names of the constants above, by number.
    private static final class Names {
        static final Map<Integer, String> BY_NUMBER = new HashMap<>();

        static {
            for (Field constant : Errno.class.getFields()) {
                try {
                    BY_NUMBER.put(constant.getInt(null), constant.getName());
                } catch (IllegalAccessException e) {
                    throw new AssertionError("all fields are public", e);
                }
            }
        }
    }

    /// Returns the name as in the manual, or `errno N` for an unknown number.
    public static String name(int errno) {
        String name = Names.BY_NUMBER.get(errno);
        return name == null ? "errno " + errno : name;
    }

    /// Returns the kind of an error. An unknown number counts as an error of the program.
    public static Kind kind(int errno) {
        return switch (errno) {
            case EINTR, EAGAIN -> Kind.RETRYABLE;
            case EPIPE,
                    ENETDOWN,
                    ENETUNREACH,
                    ECONNABORTED,
                    ECONNRESET,
                    ENOTCONN,
                    ETIMEDOUT,
                    ECONNREFUSED,
                    ENONET,
                    EHOSTDOWN,
                    EHOSTUNREACH ->
                    Kind.CONNECTION;
            case ENOMEM, ENFILE, EMFILE, ENOSPC, ENOBUFS -> Kind.RESOURCE;
            default -> Kind.PROGRAM;
        };
    }

    /// Returns whether an accept error concerns only the pending connection and not the listener:
    /// see accept(2).
    public static boolean isOfAcceptedPeer(int errno) {
        return switch (errno) {
            case ECONNABORTED,
                    EPERM,
                    ENETDOWN,
                    EPROTO,
                    ENOPROTOOPT,
                    EHOSTDOWN,
                    ENONET,
                    EHOSTUNREACH,
                    EOPNOTSUPP,
                    ENETUNREACH ->
                    true;
            default -> false;
        };
    }

    /// Returns the result of a call that must succeed.
    ///
    /// @param fd the descriptor, or [SystemCallException#NO_FD]
    /// @throws SystemCallException if the result is `-errno`
    public static int require(String call, int result, int fd) {
        if (result < 0) {
            throw new SystemCallException(call, -result, fd);
        }
        return result;
    }

    /// Returns the remedy for the user; empty if there is none.
    ///
    /// @param call the refused call, since the meaning of some errors depends on it
    public static String hint(String call, int errno) {
        if (call.startsWith("inotify_")) {
            String watchHint = fileWatchHint(errno);
            if (!watchHint.isEmpty()) {
                return watchHint;
            }
        }
        boolean epoll = call.startsWith("epoll_ctl");
        boolean registering = epoll || call.startsWith("kevent(");
        return switch (errno) {
            case EMFILE ->
                    "raise the open-file limit (ulimit -n), now "
                            + DescriptorLimit.openFiles().current();
            case ENFILE -> "raise the system's open-file limit (sysctl fs.file-max)";
            case ENOMEM -> "the kernel is out of memory for this: raise the memory limit";
            case ENOSPC ->
                    epoll
                            ? "raise the limit of epoll watches (sysctl fs.epoll.max_user_watches)"
                            : "";
            case EACCES -> call.equals("bind") ? "ports below 1024 need CAP_NET_BIND_SERVICE" : "";
            case EPERM ->
                    registering
                            ? "this kind of descriptor cannot be polled; a regular file is always"
                                    + " ready"
                            : "the kernel, or the sandbox of this process, does not allow it";
            case EBADF -> "the descriptor is closed, or was never open";
            case EADDRINUSE -> "another program listens there: choose another port, or stop it";
            case EADDRNOTAVAIL -> "no interface of this machine has that address";
            case EISDIR -> "it is a directory: use a file, a pipe or a terminal";
            case ENOTTY -> "not a terminal: check with Terminal.isTerminal first";
            default -> "";
        };
    }

    private static String fileWatchHint(int errno) {
        return switch (errno) {
            case EMFILE ->
                    "raise the limit of inotify instances (sysctl fs.inotify.max_user_instances) or"
                            + " the open-file limit (ulimit -n), now "
                            + DescriptorLimit.openFiles().current();
            case ENOSPC ->
                    "raise the limit of watched directories (sysctl fs.inotify.max_user_watches)";
            case ENOENT -> "the directory does not exist";
            case ENOTDIR -> "the path, or a part of it, is not a directory";
            case EACCES -> "this process lacks permission to read or reach the directory";
            default -> "";
        };
    }

    /// Returns the remedy for a refused `bind`; empty if there is none.
    public static String bindHint(SocketAddress address, int errno) {
        if (!(address instanceof UnixDomainSocketAddress)) {
            return hint("bind", errno);
        }
        return switch (errno) {
            case EADDRINUSE ->
                    "the path exists already: delete that file if no program uses it any more, or"
                            + " choose another path";
            case EACCES -> "this process may not create files in that directory";
            case ENOENT, ENOTDIR -> "the directory does not exist";
            default -> hint("bind", errno);
        };
    }

    /// Returns the remedy for a refused `connect`; empty if there is none.
    public static String connectHint(SocketAddress address, int errno) {
        return address instanceof UnixDomainSocketAddress
                ? unixConnectHint(errno)
                : inetConnectHint(errno);
    }

    private static String unixConnectHint(int errno) {
        return switch (errno) {
            case ECONNREFUSED ->
                    "no program listens there any more: the file was left behind by an earlier"
                            + " program";
            case ENOENT, ENOTDIR ->
                    "the socket does not exist: check that the program that creates it is running";
            case EACCES -> "this process lacks permission to write to or reach that socket";
            case EAGAIN -> "the backlog of the listener is full: try again later";
            default -> hint("connect", errno);
        };
    }

    private static String inetConnectHint(int errno) {
        return switch (errno) {
            case ECONNREFUSED ->
                    "no program listens there: check the port, and that the program is running";
            case EACCES, EPERM ->
                    "a rule of this machine forbids it: a firewall, or a broadcast address";
            case EADDRNOTAVAIL ->
                    "no local port is left (sysctl net.ipv4.ip_local_port_range), or this machine"
                            + " has no address of that family";
            case ENETUNREACH, ENETDOWN ->
                    "this machine has no route to that network: check its interfaces";
            case EHOSTUNREACH -> "no route to that host: check that it is up";
            case ETIMEDOUT -> "the host does not respond: it is down, or a firewall drops packets";
            case EAFNOSUPPORT -> "this kernel does not support that protocol, such as IPv6";
            default -> hint("connect", errno);
        };
    }
}
