package dev.gyre.http.internal.body;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.internal.message.PercentEncoding;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// A header value with parameters, such as `form-data; name="a"`.
///
/// @param value in lower case
/// @param parameters by name in lower case
record HeaderParameters(String value, Map<String, String> parameters) {
    /// Returns the parsed header; `null` if it is malformed or repeats a parameter.
    static @Nullable HeaderParameters parse(String header) {
        int semicolon = header.indexOf(';');
        int end = semicolon < 0 ? header.length() : semicolon;
        String value = header.substring(0, end).strip().toLowerCase(Locale.ROOT);
        Parser parser = new Parser(header, end);
        return !value.isEmpty() && parser.parse()
                ? new HeaderParameters(value, parser.parameters)
                : null;
    }

    @Nullable String get(String name) {
        return parameters.get(name);
    }

    /// Returns an extended parameter by RFC 8187, such as `filename*=UTF-8''a`; `null` if it is
    /// absent or not in UTF-8.
    @Nullable String extended(String name) {
        String encoded = parameters.get(name + "*");
        if (encoded == null || !encoded.regionMatches(true, 0, "UTF-8'", 0, 6)) {
            return null;
        }
        int quote = encoded.indexOf('\'', 6);
        return quote < 0 ? null : PercentEncoding.decode(encoded.substring(quote + 1), false);
    }

    private static final class Parser {
        private final String text;
        private final Map<String, String> parameters = new HashMap<>(4);
        private int at;

        Parser(String text, int at) {
            this.text = text;
            this.at = at;
        }

        /// Returns false if the text is malformed.
        boolean parse() {
            while (skipSpaces() < text.length()) {
                if (text.charAt(at++) != ';') {
                    return false;
                }
                if (skipSpaces() == text.length() || text.charAt(at) == ';') {
                    continue; // An empty parameter.
                }
                String name = token().toLowerCase(Locale.ROOT);
                if (name.isEmpty() || at == text.length() || text.charAt(at++) != '=') {
                    return false;
                }
                boolean quoted = at < text.length() && text.charAt(at) == '"';
                String value = quoted ? quotedString() : token();
                if (value == null || parameters.put(name, value) != null) {
                    return false;
                }
            }
            return true;
        }

        private int skipSpaces() {
            while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
                at++;
            }
            return at;
        }

        private String token() {
            int from = at;
            while (at < text.length() && " \t;=\"".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            return text.substring(from, at);
        }

        /// Backslashes escape only quotes and backslashes: old clients send paths of Windows.
        private @Nullable String quotedString() {
            StringBuilder value = new StringBuilder();
            for (at++; at < text.length(); at++) {
                char c = text.charAt(at);
                if (c == '"') {
                    at++;
                    return value.toString();
                }
                boolean escapes =
                        c == '\\'
                                && at + 1 < text.length()
                                && "\"\\".indexOf(text.charAt(at + 1)) >= 0;
                value.append(escapes ? text.charAt(++at) : c);
            }
            return null;
        }
    }

    /// Returns whether text declares no charset, or UTF-8, or ASCII, which is a part of it.
    boolean isUtf8() {
        String charset = get("charset");
        return charset == null
                || charset.equalsIgnoreCase("utf-8")
                || charset.equalsIgnoreCase("us-ascii");
    }

    /// Returns the boundary as bytes; `null` if it is absent or invalid by RFC 2046.
    byte @Nullable [] boundary() {
        String boundary = get("boundary");
        if (boundary == null || boundary.isEmpty() || boundary.length() > 70) {
            return null;
        }
        for (int i = 0; i < boundary.length(); i++) {
            char c = boundary.charAt(i);
            boolean letter =
                    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letter && "'()+_,-./:=? ".indexOf(c) < 0) {
                return null;
            }
        }
        return boundary.endsWith(" ") ? null : boundary.getBytes(ISO_8859_1);
    }
}
