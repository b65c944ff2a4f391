package dev.gyre.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

/// Parses and formats addresses of the command line: `7777`, `:7777`, `host:7777`, `[::1]:7777`,
/// `unix:/path`.
///
/// Parsing does not resolve host names.
final class Addresses {
    /// The accepted forms, for help texts.
    static final String FORMS = "PORT, :PORT, HOST:PORT, [IPv6]:PORT or unix:PATH";

    private static final String UNIX = "unix:";
    static final int MAX_PORT = 65_535;

    /// A path and its terminating zero must fit into `sockaddr_un`.
    private static final int MAX_PATH_BYTES = 107;

    private Addresses() {}

    /// Parses an address to listen on. A bare port means 127.0.0.1, `:7777` all addresses. Port 0
    /// selects a free port.
    ///
    /// @throws IllegalArgumentException if the text is not an address; the message says why
    static SocketAddress toListenOn(String text) {
        return parse(text, text.startsWith(":") ? "0.0.0.0" : "127.0.0.1", 0);
    }

    /// Parses an address to connect to. The default host is 127.0.0.1.
    ///
    /// @throws IllegalArgumentException if the text is not an address; the message says why
    static SocketAddress toReach(String text) {
        return parse(text, "127.0.0.1", 1);
    }

    private static SocketAddress parse(String text, String defaultHost, int minPort) {
        if (text.startsWith(UNIX)) {
            return unix(text.substring(UNIX.length()));
        }
        int colon = text.lastIndexOf(':');
        int port = port(text, text.substring(colon + 1), minPort);
        if (colon <= 0) {
            return new InetSocketAddress(InetAddress.ofLiteral(defaultHost), port);
        }
        String host = text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (host.indexOf(':') >= 0 && !bracketed) {
            throw wrong(text, "write IPv6 addresses in brackets, as in [::1]:7777");
        }
        try {
            String bare = bracketed ? host.substring(1, host.length() - 1) : host;
            return new InetSocketAddress(InetAddress.ofLiteral(bare), port);
        } catch (IllegalArgumentException e) {
            if (bracketed || !isName(host)) {
                throw wrong(text, host + " is not a host name");
            }
            return InetSocketAddress.createUnresolved(host, port);
        }
    }

    /// Returns the address of a Unix domain socket.
    ///
    /// @throws IllegalArgumentException if the path is empty or too long
    static SocketAddress unix(String path) {
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0) {
            throw wrong(UNIX + path, "the path is empty");
        }
        if (bytes > MAX_PATH_BYTES) {
            throw wrong(
                    UNIX + path,
                    "a socket path has at most %d bytes, this one has %d"
                            .formatted(MAX_PATH_BYTES, bytes));
        }
        return UnixDomainSocketAddress.of(path);
    }

    private static int port(String text, String digits, int min) {
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw wrong(text, "expected " + FORMS);
        }
        // Six digits are out of range, and more could overflow an int.
        int port = digits.length() > 5 ? MAX_PORT + 1 : Integer.parseInt(digits);
        if (port < min || port > MAX_PORT) {
            throw wrong(text, "the port must be from " + min + " to " + MAX_PORT);
        }
        return port;
    }

    private static boolean isName(String host) {
        // Some resolvers take digits and dots for an address in another notation.
        return host.matches("[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
                && !host.matches("[0-9.]+");
    }

    private static IllegalArgumentException wrong(String text, String why) {
        return new IllegalArgumentException("'" + text + "' is not an address: " + why);
    }

    /// Resolves the host name, if any. Blocks.
    ///
    /// @throws UnknownHostException if the host is unknown
    static SocketAddress resolved(SocketAddress address) throws UnknownHostException {
        if (address instanceof InetSocketAddress internet && internet.isUnresolved()) {
            InetAddress found = InetAddress.getByName(internet.getHostString());
            return new InetSocketAddress(found, internet.getPort());
        }
        return address;
    }

    /// Returns the name of the transport.
    static String transport(SocketAddress address) {
        return address instanceof UnixDomainSocketAddress ? "Unix" : "TCP";
    }

    /// Formats an address as it is written on the command line.
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
