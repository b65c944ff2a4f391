package dev.gyre.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

/// Addresses as they are written on a command line: `7777`, `:7777`, `host:7777`, `[::1]:7777`, `unix:/path`.
///
/// Nothing is looked up: a name stays a name.
final class Addresses {
    /// What help texts say of it.
    static final String FORMS = "PORT, :PORT, HOST:PORT, [IPv6]:PORT or unix:PATH";

    private static final String UNIX = "unix:";
    static final int MOST_PORT = 65_535;

    /// A path with the zero behind it has to fit into `sockaddr_un`.
    private static final int MOST_PATH_BYTES = 107;

    private Addresses() {}

    /// Where to listen: a bare port means on this machine for this machine, `:7777` on all its addresses. Port 0 lets the
    /// system choose.
    ///
    /// @throws IllegalArgumentException if it is none; the message says why
    static SocketAddress toListenOn(String text) {
        return parse(text, text.startsWith(":") ? "0.0.0.0" : "127.0.0.1", 0);
    }

    /// Where to connect: without a host to this machine.
    ///
    /// @throws IllegalArgumentException if it is none; the message says why
    static SocketAddress toReach(String text) {
        return parse(text, "127.0.0.1", 1);
    }

    private static SocketAddress parse(String text, String hostIfNone, int leastPort) {
        if (text.startsWith(UNIX)) {
            return unix(text.substring(UNIX.length()));
        }
        int colon = text.lastIndexOf(':');
        int port = port(text, text.substring(colon + 1), leastPort);
        if (colon <= 0) {
            return new InetSocketAddress(InetAddress.ofLiteral(hostIfNone), port);
        }
        String host = text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (host.indexOf(':') >= 0 && !bracketed) {
            throw wrong(text, "an address of IPv6 stands in brackets, as in [::1]:7777");
        }
        try {
            String bare = bracketed ? host.substring(1, host.length() - 1) : host;
            return new InetSocketAddress(InetAddress.ofLiteral(bare), port);
        } catch (IllegalArgumentException e) {
            if (bracketed || !isName(host)) {
                throw wrong(text, "there is no host like " + host);
            }
            return InetSocketAddress.createUnresolved(host, port);
        }
    }

    /// The address of a Unix domain socket.
    ///
    /// @throws IllegalArgumentException if the path is too short or too long
    static SocketAddress unix(String path) {
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0) {
            throw wrong(UNIX + path, "the path is empty");
        }
        if (bytes > MOST_PATH_BYTES) {
            throw wrong(
                    UNIX + path,
                    "the path of a socket has at most %d bytes, and this one has %d"
                            .formatted(MOST_PATH_BYTES, bytes));
        }
        return UnixDomainSocketAddress.of(path);
    }

    private static int port(String text, String digits, int least) {
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw wrong(text, "it should be " + FORMS);
        }
        // Six digits are too many, and more do not fit into an int.
        int port = digits.length() > 5 ? MOST_PORT + 1 : Integer.parseInt(digits);
        if (port < least || port > MOST_PORT) {
            throw wrong(text, "a port is from " + least + " to " + MOST_PORT);
        }
        return port;
    }

    private static boolean isName(String host) {
        // What looks like a number and is no address would be looked up by some systems as one.
        return host.matches("[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
                && !host.matches("[0-9.]+");
    }

    private static IllegalArgumentException wrong(String text, String why) {
        return new IllegalArgumentException("'" + text + "' is no address: " + why);
    }

    /// With its name looked up, if it has one. That may take a while.
    ///
    /// @throws UnknownHostException if there is no such host
    static SocketAddress resolved(SocketAddress address) throws UnknownHostException {
        if (address instanceof InetSocketAddress internet && internet.isUnresolved()) {
            InetAddress found = InetAddress.getByName(internet.getHostString());
            return new InetSocketAddress(found, internet.getPort());
        }
        return address;
    }

    /// The sort of socket, in a word.
    static String sortOf(SocketAddress address) {
        return address instanceof UnixDomainSocketAddress ? "Unix" : "TCP";
    }

    /// As it would be written on a command line.
    static String show(SocketAddress address) {
        return switch (address) {
            case UnixDomainSocketAddress unix -> UNIX + unix;
            case InetSocketAddress internet -> host(internet) + ":" + internet.getPort();
            default -> address.toString();
        };
    }

    private static String host(InetSocketAddress address) {
        if (address.isUnresolved()) {
            return address.getHostString();
        }
        String literal = address.getAddress().getHostAddress();
        return literal.indexOf(':') < 0 ? literal : "[" + literal + "]";
    }
}
