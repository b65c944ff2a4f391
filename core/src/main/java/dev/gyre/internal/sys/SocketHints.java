package dev.gyre.internal.sys;

import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/// What a user can do about an address that is refused. Empty where there is nothing to say.
public final class SocketHints {
    private SocketHints() {}

    public static String bind(SocketAddress address, int errno) {
        if (!(address instanceof UnixDomainSocketAddress)) {
            return Errno.hint("bind", errno);
        }
        return switch (errno) {
            case Errno.EADDRINUSE ->
                    "the path exists already: delete that file if no program uses it any more, or"
                            + " choose another path";
            case Errno.EACCES -> "this process may not make files in that directory";
            case Errno.ENOENT, Errno.ENOTDIR -> "there is no such directory";
            default -> Errno.hint("bind", errno);
        };
    }

    public static String connect(SocketAddress address, int errno) {
        return address instanceof UnixDomainSocketAddress
                ? connectToPath(errno)
                : connectToHost(errno);
    }

    private static String connectToPath(int errno) {
        return switch (errno) {
            case Errno.ECONNREFUSED ->
                    "nobody listens there any more: the file was left behind by an earlier program";
            case Errno.ENOENT, Errno.ENOTDIR ->
                    "there is no such socket: is the program running that makes it?";
            case Errno.EACCES -> "this process may not write to that socket, or not reach it";
            case Errno.EAGAIN -> "too many connections wait there already: try again later";
            default -> Errno.hint("connect", errno);
        };
    }

    private static String connectToHost(int errno) {
        return switch (errno) {
            case Errno.ECONNREFUSED ->
                    "nobody listens there: check the port, and that the program is running";
            case Errno.EACCES, Errno.EPERM ->
                    "a rule of this machine forbids it: a firewall, or a broadcast address";
            case Errno.EADDRNOTAVAIL ->
                    "no local port is left for it (sysctl net.ipv4.ip_local_port_range), or this"
                            + " machine has no address of that sort";
            case Errno.ENETUNREACH, Errno.ENETDOWN ->
                    "this machine has no route to that network: check its interfaces";
            case Errno.EHOSTUNREACH -> "no way leads to that host: is it up?";
            case Errno.ETIMEDOUT ->
                    "it does not answer: it is down, or a firewall drops what is sent there";
            case Errno.EAFNOSUPPORT -> "this kernel does without that protocol, as IPv6 may be";
            default -> Errno.hint("connect", errno);
        };
    }
}
