package dev.gyre.cli.admin;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A JSON value, with accessors that tolerate absent members: a server may be older or newer than
/// this client.
///
/// @param value a map, a list, a string, a double, a boolean, or null
public record Json(@Nullable Object value) {
    private static final int MAX_DEPTH = 100;

    /// Parses a text.
    ///
    /// @throws IllegalArgumentException if it is not JSON; the message names the position
    public static Json parse(String text) {
        Parser parser = new Parser(text);
        Object value = parser.value(0);
        parser.space();
        if (parser.at < text.length()) {
            throw parser.wrong("the end");
        }
        return new Json(value);
    }

    /// Returns a member of an object; a JSON null if absent.
    public Json get(String name) {
        return new Json(value instanceof Map<?, ?> map ? map.get(name) : null);
    }

    /// Returns the elements of an array; empty if this is none.
    public List<Json> list() {
        List<Json> list = new ArrayList<>();
        if (value instanceof List<?> elements) {
            elements.forEach(each -> list.add(new Json(each)));
        }
        return list;
    }

    /// Returns a string, or a number or boolean as one; empty for null.
    public String text() {
        if (value instanceof Double number && number == Math.rint(number)) {
            return Long.toString(number.longValue());
        }
        return value == null ? "" : value.toString();
    }

    /// Returns a number; zero if this is none.
    public double number() {
        return value instanceof Double number ? number : 0;
    }

    public boolean isNull() {
        return value == null;
    }

    /// Returns whether this is true.
    public boolean isTrue() {
        return Boolean.TRUE.equals(value);
    }

    private static final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        IllegalArgumentException wrong(String expected) {
            return new IllegalArgumentException(
                    "not JSON: expected " + expected + " at character " + at);
        }

        void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private boolean skip(String word) {
            boolean found = text.startsWith(word, at);
            at += found ? word.length() : 0;
            return found;
        }

        private void require(String word) {
            space();
            if (!skip(word)) {
                throw wrong(word);
            }
        }

        @Nullable Object value(int depth) {
            space();
            if (depth > MAX_DEPTH || at == text.length()) {
                throw wrong("a value");
            }
            return switch (text.charAt(at)) {
                case '{' -> object(depth);
                case '[' -> array(depth);
                case '"' -> string();
                case 't', 'f', 'n' -> word();
                default -> number();
            };
        }

        private Map<String, @Nullable Object> object(int depth) {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            require("{");
            space();
            while (!skip("}")) {
                if (!members.isEmpty()) {
                    require(",");
                }
                space();
                String name = string();
                require(":");
                members.put(name, value(depth + 1));
                space();
            }
            return members;
        }

        private List<@Nullable Object> array(int depth) {
            List<@Nullable Object> elements = new ArrayList<>();
            require("[");
            space();
            while (!skip("]")) {
                if (!elements.isEmpty()) {
                    require(",");
                }
                elements.add(value(depth + 1));
                space();
            }
            return elements;
        }

        private @Nullable Object word() {
            if (skip("null")) {
                return null;
            }
            if (skip("true")) {
                return true;
            }
            if (skip("false")) {
                return false;
            }
            throw wrong("a value");
        }

        private Double number() {
            int from = at;
            while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            try {
                return Double.valueOf(text.substring(from, at));
            } catch (NumberFormatException e) {
                at = from;
                throw wrong("a value");
            }
        }

        private String string() {
            if (!skip("\"")) {
                throw wrong("a string");
            }
            StringBuilder chars = new StringBuilder();
            while (!skip("\"")) {
                if (at == text.length()) {
                    throw wrong("the end of a string");
                }
                char next = text.charAt(at++);
                chars.append(next == '\\' ? escaped() : next);
            }
            return chars.toString();
        }

        private char escaped() {
            if (at == text.length()) {
                throw wrong("an escaped character");
            }
            char next = text.charAt(at++);
            return switch (next) {
                case 'n' -> '\n';
                case 't' -> '\t';
                case 'r' -> '\r';
                case 'b' -> '\b';
                case 'f' -> '\f';
                case 'u' -> hexadecimal();
                case '"', '\\', '/' -> next;
                default -> throw wrong("an escaped character");
            };
        }

        private char hexadecimal() {
            try {
                char unit = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                at += 4;
                return unit;
            } catch (IndexOutOfBoundsException | NumberFormatException e) {
                throw wrong("four hexadecimal digits");
            }
        }
    }
}
