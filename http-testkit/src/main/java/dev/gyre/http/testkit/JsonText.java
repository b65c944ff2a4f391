package dev.gyre.http.testkit;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Parses JSON texts (RFC 8259) and compares them without regard to white space and member order.
final class JsonText {
    private static final int MAX_DEPTH = 512;

    private final String text;
    private int at;

    private JsonText(String text) {
        this.text = text;
    }

    /// Returns a value of maps, lists, strings, [BigDecimal]s, booleans and null.
    ///
    /// @throws IllegalArgumentException if the text is not JSON; the message names the position
    static @Nullable Object parse(String text) {
        JsonText parser = new JsonText(text);
        Object value = parser.value(0);
        parser.skipSpace();
        if (parser.at < text.length()) {
            throw parser.malformed("unexpected characters after the value");
        }
        return value;
    }

    /// Returns the first difference of two parsed values with its path; `null` if they are equal.
    static @Nullable String difference(
            @Nullable Object expected, @Nullable Object actual, String path) {
        if (expected instanceof Map<?, ?> want && actual instanceof Map<?, ?> got) {
            return memberDifference(want, got, path);
        }
        if (expected instanceof List<?> want && actual instanceof List<?> got) {
            for (int i = 0; i < Math.min(want.size(), got.size()); i++) {
                String difference = difference(want.get(i), got.get(i), path + "[" + i + "]");
                if (difference != null) {
                    return difference;
                }
            }
            return want.size() == got.size()
                    ? null
                    : path + ": expected " + want.size() + " elements but there are " + got.size();
        }
        boolean equal =
                (expected instanceof BigDecimal want && actual instanceof BigDecimal got)
                        ? want.compareTo(got) == 0
                        : Objects.equals(expected, actual);
        return equal ? null : path + ": expected " + show(expected) + " but was " + show(actual);
    }

    private static @Nullable String memberDifference(
            Map<?, ?> expected, Map<?, ?> actual, String path) {
        for (Map.Entry<?, ?> member : expected.entrySet()) {
            String memberPath = path + "." + member.getKey();
            if (!actual.containsKey(member.getKey())) {
                return memberPath
                        + ": expected "
                        + show(member.getValue())
                        + " but the member is missing";
            }
            String difference =
                    difference(member.getValue(), actual.get(member.getKey()), memberPath);
            if (difference != null) {
                return difference;
            }
        }
        for (Map.Entry<?, ?> member : actual.entrySet()) {
            if (!expected.containsKey(member.getKey())) {
                return path
                        + "."
                        + member.getKey()
                        + ": unexpected member "
                        + show(member.getValue());
            }
        }
        return null;
    }

    private static String show(@Nullable Object value) {
        return value instanceof String text ? '"' + text + '"' : String.valueOf(value);
    }

    // ------------------------------------------------------------------ parsing

    private @Nullable Object value(int depth) {
        skipSpace();
        if (depth > MAX_DEPTH) {
            throw malformed("too many levels");
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> literal("true", true);
            case 'f' -> literal("false", false);
            case 'n' -> literal("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        at++;
        skipSpace();
        if (accept('}')) {
            return members;
        }
        do {
            skipSpace();
            String name = string();
            skipSpace();
            require(':');
            if (members.containsKey(name)) {
                throw malformed("duplicate member \"" + name + "\"");
            }
            members.put(name, value(depth + 1));
            skipSpace();
        } while (accept(','));
        require('}');
        return members;
    }

    private List<@Nullable Object> array(int depth) {
        List<@Nullable Object> elements = new ArrayList<>();
        at++;
        skipSpace();
        if (accept(']')) {
            return elements;
        }
        do {
            elements.add(value(depth + 1));
            skipSpace();
        } while (accept(','));
        require(']');
        return elements;
    }

    private String string() {
        require('"');
        StringBuilder string = new StringBuilder();
        while (true) {
            char c = next();
            if (c == '"') {
                return string.toString();
            }
            if (c < ' ') {
                throw malformed("control character in a string");
            }
            string.append(c == '\\' ? escape() : c);
        }
    }

    private char escape() {
        char c = next();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                int unit = 0;
                for (int i = 0; i < 4; i++) {
                    int digit = Character.digit(next(), 16);
                    if (digit < 0) {
                        throw malformed("\\u needs four hex digits");
                    }
                    unit = unit * 16 + digit;
                }
                yield (char) unit;
            }
            default -> throw malformed("unknown escape \\" + c);
        };
    }

    private BigDecimal number() {
        int start = at;
        boolean _ = accept('-');
        int first = at;
        int integer = digits();
        boolean valid = integer == 1 || (integer > 1 && text.charAt(first) != '0');
        if (valid && accept('.')) {
            valid = digits() > 0;
        }
        if (valid && (accept('e') || accept('E'))) {
            boolean _ = accept('+') || accept('-');
            valid = digits() > 0;
        }
        if (!valid) {
            at = start;
            throw malformed("expected a JSON value");
        }
        try {
            return new BigDecimal(text.substring(start, at));
        } catch (NumberFormatException e) {
            throw malformed("the exponent is out of range");
        }
    }

    private int digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return at - start;
    }

    private @Nullable Object literal(String name, @Nullable Object value) {
        if (!text.startsWith(name, at)) {
            throw malformed("expected a JSON value");
        }
        at += name.length();
        return value;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at == text.length()) {
            throw malformed("the text ends too early");
        }
        return text.charAt(at);
    }

    private char next() {
        char c = peek();
        at++;
        return c;
    }

    private boolean accept(char c) {
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void require(char c) {
        if (!accept(c)) {
            throw malformed("expected " + c);
        }
    }

    private IllegalArgumentException malformed(String problem) {
        return new IllegalArgumentException("malformed JSON at index " + at + ": " + problem);
    }
}
