package dev.gyre.http.internal.message;

/// A host with or without a port, as `Host` and targets have it (RFC 3986, 3.2): `example.org:80`, `[::1]`.
final class Authority {
    private static final String NAME =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~!$&'()*+,;=";

    private static final boolean[] HOST = Octets.set(NAME);
    private static final boolean[] LITERAL = Octets.set(NAME + ":");

    private Authority() {}

    /// Whether it is one. There is none without a host, and none with a user in it.
    static boolean isValid(byte[] data, int at, int end) {
        int port = hostEnd(data, at, end);
        return port == end
                || (port > at
                        && data[port] == ':'
                        && Octets.firstNotIn(Octets.DIGIT, data, port + 1, end) == end);
    }

    /// Whether it is one, and says a port: what `CONNECT` takes.
    static boolean hasPort(byte[] data, int at, int end) {
        int port = hostEnd(data, at, end);
        return port > at && port + 1 < end && isValid(data, at, end);
    }

    /// Whether both name the same, of which one may leave out the port that goes without saying.
    static boolean isSame(byte[] data, int at, int end, int otherAt, int otherEnd, String port) {
        int length = withoutPort(data, at, end, port) - at;
        if (withoutPort(data, otherAt, otherEnd, port) - otherAt != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (Octets.lower(data[at + i]) != Octets.lower(data[otherAt + i])) {
                return false;
            }
        }
        return true;
    }

    private static int withoutPort(byte[] data, int at, int end, String port) {
        int colon = hostEnd(data, at, end);
        return colon + 1 >= end || Octets.is(data, colon + 1, end, port)
                ? Math.max(colon, at)
                : end;
    }

    /// Where the host ends; before its beginning if it is none.
    private static int hostEnd(byte[] data, int at, int end) {
        if (at == end) {
            return -1;
        }
        int last = Octets.firstNot(HOST, data, at, end);
        if (last == at && data[at] == '[') {
            int close = Octets.firstNot(LITERAL, data, at + 1, end);
            return close > at + 1 && close < end && data[close] == ']' ? close + 1 : -1;
        }
        while (last < end && data[last] == '%') {
            if (end - last < 3
                    || Octets.firstNotIn(Octets.HEX, data, last + 1, last + 3) < last + 3) {
                return -1;
            }
            last = Octets.firstNot(HOST, data, last + 3, end);
        }
        return last > at ? last : -1;
    }
}
