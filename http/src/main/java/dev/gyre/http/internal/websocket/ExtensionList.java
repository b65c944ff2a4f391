package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads `Sec-WebSocket-Extensions`: RFC 6455, section 9.1.
///
/// ```
///     name ; parameter ; parameter=token ; parameter="token" , name …
/// ```
final class ExtensionList {
    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    /// One of the list; a parameter without a value has an empty one.
    record Extension(String name, Map<String, String> parameters) {}

    private final String text;
    private int at;

    private ExtensionList(String text) {
        this.text = text;
    }

    /// Reads a field's value.
    ///
    /// @return null if it is no such list
    static @Nullable List<Extension> parse(String field) {
        return new ExtensionList(field).list();
    }

    private @Nullable List<Extension> list() {
        List<Extension> found = new ArrayList<>();
        do {
            String name = token();
            Map<String, String> parameters = name == null ? null : parameters();
            if (name == null || parameters == null) {
                return null;
            }
            found.add(new Extension(name, parameters));
        } while (skip(','));
        return at == text.length() ? found : null;
    }

    private @Nullable Map<String, String> parameters() {
        Map<String, String> found = new LinkedHashMap<>();
        while (skip(';')) {
            String name = token();
            String value = "";
            if (name != null && skip('=')) {
                value = skip('"') ? quoted() : token();
            }
            // A parameter twice says two things.
            if (name == null || value == null || found.put(name, value) != null) {
                return null;
            }
        }
        return found;
    }

    private @Nullable String token() {
        skipSpace();
        int from = at;
        while (at < text.length() && isTokenChar(text.charAt(at))) {
            at++;
        }
        return at == from ? null : text.substring(from, at);
    }

    /// What is in quotes has to be a token all the same.
    private @Nullable String quoted() {
        int end = text.indexOf('"', at);
        if (end <= at) {
            return null;
        }
        String value = text.substring(at, end);
        at = end + 1;
        return value.chars().allMatch(each -> isTokenChar((char) each)) ? value : null;
    }

    private boolean skip(char mark) {
        skipSpace();
        boolean there = at < text.length() && text.charAt(at) == mark;
        at += there ? 1 : 0;
        return there;
    }

    private void skipSpace() {
        while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
            at++;
        }
    }

    private static boolean isTokenChar(char each) {
        return (each >= 'a' && each <= 'z')
                || (each >= 'A' && each <= 'Z')
                || (each >= '0' && each <= '9')
                || TOKEN_MARKS.indexOf(each) >= 0;
    }
}
