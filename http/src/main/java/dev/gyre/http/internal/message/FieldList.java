package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// Header or trailer fields to be sent, checked so that each is one line.
public final class FieldList {
    /// So many bytes all of them may have, as they are put together in one go.
    private static final int MOST_BYTES = 16 << 10;

    // One thread at a time. Name and value in turn.
    private final List<String> fields = new ArrayList<>();
    private int bytes;

    /// Adds a field.
    ///
    /// @throws IllegalArgumentException if it is no field of one line, or all of them are too long
    public void add(String name, String value) {
        requireName(name);
        requireValue(name, value);
        int more = bytesOf(name, value);
        if (bytes + more > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "the field " + name + " makes the header longer than " + MOST_BYTES + " bytes");
        }
        bytes += more;
        fields.add(name);
        fields.add(value);
    }

    public void addAll(FieldList others) {
        if (others.isEmpty()) {
            return; // Adding nothing would allocate all the same.
        }
        fields.addAll(others.fields);
        bytes += others.bytes;
    }

    public void set(String name, String value) {
        remove(name);
        add(name, value);
    }

    public void remove(String name) {
        for (int i = fields.size() - 2; i >= 0; i -= 2) {
            if (fields.get(i).equalsIgnoreCase(name)) {
                String value = fields.remove(i + 1);
                bytes -= bytesOf(fields.remove(i), value);
            }
        }
    }

    public @Nullable String get(String name) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equalsIgnoreCase(name)) {
                return fields.get(i + 1);
            }
        }
        return null;
    }

    /// Whether a field is a list that has this element, in any case.
    public boolean lists(String name, String token) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equalsIgnoreCase(name) && ElementList.has(fields.get(i + 1), token)) {
                return true;
            }
        }
        return false;
    }

    public boolean isEmpty() {
        return fields.isEmpty();
    }

    public void clear() {
        if (!fields.isEmpty()) {
            fields.clear();
            bytes = 0;
        }
    }

    /// How much room they need at most.
    public int bytes() {
        return bytes;
    }

    public void put(Buffer out) {
        for (int i = 0; i < fields.size(); i += 2) {
            out.put(fields.get(i))
                    .put((byte) ':')
                    .put((byte) ' ')
                    .put(fields.get(i + 1))
                    .put((byte) '\r')
                    .put((byte) '\n');
        }
    }

    /// The same as text, for who sends a head once in a while.
    public void appendTo(StringBuilder out) {
        for (int i = 0; i < fields.size(); i += 2) {
            out.append(fields.get(i)).append(": ").append(fields.get(i + 1)).append("\r\n");
        }
    }

    /// How long the line of a field is in UTF-8.
    private static int bytesOf(String name, String value) {
        int bytes = name.length() + value.length() + 4;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c >= 0x80) {
                // Four for a pair of surrogates.
                bytes += c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
            }
        }
        return bytes;
    }

    private static void requireName(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a field has a name");
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean token =
                    (c >= 'a' && c <= 'z')
                            || (c >= 'A' && c <= 'Z')
                            || (c >= '0' && c <= '9')
                            || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
            if (!token) {
                throw new IllegalArgumentException(
                        "no field has the character %d in its name: %s"
                                .formatted((int) c, shown(name)));
            }
        }
    }

    /// Checks the value of a field.
    ///
    /// @throws IllegalArgumentException if it would not be one line
    public static void requireValue(String name, String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < ' ' && c != '\t') || c == 0x7f) {
                throw new IllegalArgumentException(
                        "the value of %s has the character %d, which no field has: %s"
                                .formatted(name, (int) c, shown(value)));
            }
        }
    }

    /// Without what would be a line of its own in a log.
    private static String shown(String text) {
        String cut = text.length() > 80 ? text.substring(0, 80) + "…" : text;
        return cut.replaceAll("\\p{Cntrl}", "?");
    }
}
