package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// The head of what a server answers to a request for an upgrade. Strict: lines end in CRLF, names are tokens,
/// nothing is folded.
///
/// @param names of the fields, in lower case
record UpgradeAnswer(String statusLine, int status, List<String> names, List<String> values) {
    /// More than any upgrade needs.
    static final int MOST_BYTES = 16 << 10;

    private static final Pattern STATUS_LINE =
            Pattern.compile("HTTP/1\\.1 [1-5][0-9]{2}( [\\t -~\\x80-\\xff]*)?");
    private static final Pattern FIELD =
            Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\\t -~\\x80-\\xff]*");

    /// Where the head ends, the empty line included; -1 if it does not yet.
    static int endOf(Buffer data) {
        int most = Math.min(data.readable(), MOST_BYTES);
        for (int i = 3; i < most; i++) {
            if (data.peek(i) == '\n' && data.peek(i - 1) == '\r' && data.peek(i - 2) == '\n') {
                return data.peek(i - 3) == '\r' ? i + 1 : -1;
            }
        }
        return -1;
    }

    /// Takes a head that is all there.
    ///
    /// @return null if it is none
    static @Nullable UpgradeAnswer take(Buffer data, int bytes) {
        String head = data.getText(bytes, ISO_8859_1);
        String[] lines = head.substring(0, bytes - 4).split("\r\n", -1);
        if (!STATUS_LINE.matcher(lines[0]).matches()) {
            return null;
        }
        List<String> names = new ArrayList<>();
        List<String> values = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            if (!FIELD.matcher(lines[i]).matches()) {
                return null;
            }
            int colon = lines[i].indexOf(':');
            names.add(lines[i].substring(0, colon).toLowerCase(Locale.ROOT));
            values.add(lines[i].substring(colon + 1).strip());
        }
        return new UpgradeAnswer(
                lines[0], Integer.parseInt(lines[0].substring(9, 12)), names, values);
    }

    List<String> all(String name) {
        String wanted = name.toLowerCase(Locale.ROOT);
        List<String> found = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            if (names.get(i).equals(wanted)) {
                found.add(values.get(i));
            }
        }
        return found;
    }

    boolean lists(String name, String token) {
        for (String value : all(name)) {
            for (String each : value.split(",", -1)) {
                if (each.strip().equalsIgnoreCase(token)) {
                    return true;
                }
            }
        }
        return false;
    }
}
