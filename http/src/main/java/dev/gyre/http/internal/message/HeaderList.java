package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

import java.util.ArrayList;
import java.util.Locale;
import java.util.Set;

/// Headers or trailers to be sent, checked so that each is one line.
public final class HeaderList extends CopiedHeaders {
    /// The maximum of all of them: they are written into one buffer.
    private static final int MAX_BYTES = 16 << 10;

    /// Names that are not allowed in trailers, because they affect framing, routing,
    /// authentication or the processing of the body (RFC 9110, 6.5.1).
    private static final Set<String> HEADER_ONLY =
            Set.of(
                    ("age authorization cache-control connection content-encoding content-length"
                                    + " content-range content-type cookie date expect expires host"
                                    + " keep-alive location max-forwards pragma proxy-authenticate"
                                    + " proxy-authorization proxy-connection range retry-after"
                                    + " set-cookie te trailer transfer-encoding upgrade vary"
                                    + " www-authenticate")
                            .split(" ", -1));

    // One thread at a time.
    private int bytes;

    /// Creates an empty list.
    public HeaderList() {
        super(new ArrayList<>());
    }

    /// Adds a header.
    ///
    /// @throws IllegalArgumentException if name or value are invalid, or all headers are too long
    public void add(String name, String value) {
        requireName(name);
        requireValue(name, value);
        int more = bytesOf(name, value);
        if (bytes + more > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "with " + name + ", the headers are longer than " + MAX_BYTES + " bytes");
        }
        bytes += more;
        texts.add(name);
        texts.add(value);
    }

    public void addAll(HeaderList others) {
        if (!others.isEmpty()) { // Adding nothing would allocate.
            texts.addAll(others.texts);
            bytes += others.bytes;
        }
    }

    public void set(String name, String value) {
        remove(name);
        add(name, value);
    }

    public void remove(String name) {
        for (int i = texts.size() - 2; i >= 0; i -= 2) {
            if (texts.get(i).equalsIgnoreCase(name)) {
                String value = texts.remove(i + 1);
                bytes -= bytesOf(texts.remove(i), value);
            }
        }
    }

    /// Returns whether a value such as `keep-alive, Upgrade` lists a token.
    public static boolean listsToken(String value, String token) {
        for (String element : value.split(",", -1)) {
            if (element.trim()
                    .equalsIgnoreCase(token)) { // Values have no other controls than tabs.
                return true;
            }
        }
        return false;
    }

    public boolean isEmpty() {
        return texts.isEmpty();
    }

    public void clear() {
        if (!texts.isEmpty()) {
            texts.clear();
            bytes = 0;
        }
    }

    /// Returns the number of bytes that [#put] writes, or a little more.
    public int bytes() {
        return bytes;
    }

    public void put(Buffer out) {
        for (int i = 0; i < texts.size(); i += 2) {
            out.put(texts.get(i))
                    .put((byte) ':')
                    .put((byte) ' ')
                    .put(texts.get(i + 1))
                    .put((byte) '\r')
                    .put((byte) '\n');
        }
    }

    public void appendTo(StringBuilder out) {
        for (int i = 0; i < texts.size(); i += 2) {
            out.append(texts.get(i)).append(": ").append(texts.get(i + 1)).append("\r\n");
        }
    }

    /// Returns the length of a header's line in UTF-8.
    private static int bytesOf(String name, String value) {
        int bytes = name.length() + value.length() + 4;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c >= 0x80) {
                // A pair of surrogates has four bytes.
                bytes += c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
            }
        }
        return bytes;
    }

    /// Checks the name of a header.
    ///
    /// @throws IllegalArgumentException if it is not a token
    public static void requireName(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the name of a header is empty");
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c >= ByteScan.TOKEN.length || !ByteScan.TOKEN[c]) {
                throw new IllegalArgumentException(
                        "the name of a header has the invalid character %d: %s"
                                .formatted((int) c, Texts.shown(name)));
            }
        }
    }

    /// Checks the value of a header.
    ///
    /// @throws IllegalArgumentException if it has control characters other than tabs
    public static void requireValue(String name, String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < ' ' && c != '\t') || c == 0x7f) {
                throw new IllegalArgumentException(
                        "the value of header %s has the invalid character %d: %s"
                                .formatted(name, (int) c, Texts.shown(value)));
            }
        }
    }

    /// Checks the name of a trailer.
    ///
    /// @throws IllegalArgumentException if it is allowed in headers only
    public static void requireTrailerName(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (HEADER_ONLY.contains(lower) || lower.startsWith("if-")) {
            throw new IllegalArgumentException(
                    name
                            + " is not allowed in trailers: clients may ignore it there; set a"
                            + " header");
        }
    }
}
