package dev.gyre.http.internal.message;

/// Checks a host with an optional port, as in `Host` and targets (RFC 3986, 3.2): `example.org:80`,
/// `[::1]`.
final class Authority {
    private static final String NAME =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~!$&'()*+,;=";

    private static final boolean[] HOST = ByteScan.set(NAME);
    private static final boolean[] LITERAL = ByteScan.set(NAME + ":");

    private Authority() {}

    /// Returns whether it is valid: with a host, without a user.
    static boolean isValid(byte[] data, int at, int end) {
        int port = hostEnd(data, at, end);
        return port == end
                || (port > at
                        && data[port] == ':'
                        && ByteScan.firstNotIn(ByteScan.DIGIT, data, port + 1, end) == end);
    }

    /// Returns whether it is valid and has a port, as `CONNECT` requires.
    static boolean hasPort(byte[] data, int at, int end) {
        int port = hostEnd(data, at, end);
        return port > at && port + 1 < end && isValid(data, at, end);
    }

    /// Returns the end of the host; -1 if it is invalid.
    private static int hostEnd(byte[] data, int at, int end) {
        if (at == end) {
            return -1;
        }
        int last = ByteScan.firstNot(HOST, data, at, end);
        if (last == at && data[at] == '[') {
            return literalEnd(data, at, end);
        }
        while (last < end && data[last] == '%') {
            if (end - last < 3
                    || ByteScan.firstNotIn(ByteScan.HEX, data, last + 1, last + 3) < last + 3) {
                return -1;
            }
            last = ByteScan.firstNot(HOST, data, last + 3, end);
        }
        return last > at ? last : -1;
    }

    /// Returns the index after an IP literal's closing bracket; -1 if absent. Zones are rejected:
    /// they are meaningful to the sender only (RFC 6874, 4).
    private static int literalEnd(byte[] data, int at, int end) {
        int close = at + 1;
        while (close < end && data[close] != ']') {
            close++;
        }
        if (close == end) {
            return -1;
        }
        boolean future = ByteScan.lower(data[at + 1]) == 'v';
        boolean valid = future ? isFuture(data, at + 2, close) : isIpv6(data, at + 1, close);
        return valid ? close + 1 : -1;
    }

    /// Whether the rest after `v` is an `IPvFuture`: hex digits, a dot, and at least one character.
    private static boolean isFuture(byte[] data, int at, int end) {
        int dot = ByteScan.firstNotIn(ByteScan.HEX, data, at, end);
        return dot > at
                && dot + 1 < end
                && data[dot] == '.'
                && ByteScan.firstNotIn(LITERAL, data, dot + 1, end) == end;
    }

    /// Whether it is an `IPv6address`: eight groups, or fewer and one `::`, which replaces at least
    /// one. An IPv4 address at the end counts as two groups.
    private static boolean isIpv6(byte[] data, int from, int end) {
        int groups = 0;
        boolean shortened = end - from >= 2 && data[from] == ':' && data[from + 1] == ':';
        int at = shortened ? from + 2 : from;
        while (at < end) {
            int last = ByteScan.firstNotIn(ByteScan.HEX, data, at, end);
            if (last < end && data[last] == '.') {
                groups += 2;
                return isIpv4(data, at, end) && (shortened ? groups <= 7 : groups == 8);
            }
            if (last == at || last - at > 4) {
                return false;
            }
            groups++;
            at = last;
            if (at < end) {
                if (data[at] != ':' || at + 1 == end) {
                    return false;
                }
                at++;
                if (data[at] == ':') {
                    if (shortened) {
                        return false;
                    }
                    shortened = true;
                    at++;
                }
            }
        }
        return shortened ? groups <= 7 : groups == 8;
    }

    /// Whether it is an IPv4 address: four numbers up to 255, without leading zeros.
    private static boolean isIpv4(byte[] data, int from, int end) {
        int at = from;
        for (int part = 0; part < 4; part++) {
            if (part > 0) {
                if (at == end || data[at] != '.') {
                    return false;
                }
                at++;
            }
            int first = at;
            int value = 0;
            while (at < end && at - first < 3 && ByteScan.DIGIT[data[at] & 0xff]) {
                value = 10 * value + data[at] - '0';
                at++;
            }
            if (at == first || value > 255 || (at - first > 1 && data[first] == '0')) {
                return false;
            }
        }
        return at == end;
    }
}
