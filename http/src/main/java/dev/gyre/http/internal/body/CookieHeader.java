package dev.gyre.http.internal.body;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Texts;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/// Parses `Cookie` headers by RFC 6265bis. Pairs without a name or an equals sign are skipped.
public final class CookieHeader {
    private CookieHeader() {}

    /// Returns the value of the first cookie of that name; `null` if absent.
    ///
    /// @param headers with bytes as characters
    /// @throws HttpException 400 if the value is not UTF-8
    public static @Nullable String value(List<String> headers, String name) {
        String[] found = new String[1];
        forEach(
                headers,
                (each, value) -> {
                    if (each.equals(name)) {
                        found[0] = value;
                    }
                    return found[0] == null;
                });
        String raw = found[0];
        if (raw == null) {
            return null;
        }
        String value = decode(raw);
        if (value == null) {
            throw new HttpException(400, "cookie " + name + ": the value is not UTF-8");
        }
        return value;
    }

    /// Returns the valid cookies by name, in their order.
    ///
    /// @param headers with bytes as characters
    public static Map<String, String> values(List<String> headers) {
        Map<String, String> values = new LinkedHashMap<>();
        forEach(
                headers,
                (name, raw) -> {
                    String value = decode(raw);
                    if (value != null) {
                        values.putIfAbsent(name, value);
                    }
                    return true;
                });
        return Collections.unmodifiableMap(values);
    }

    /// @param pair returns whether to continue
    private static void forEach(List<String> headers, BiPredicate<String, String> pair) {
        for (String header : headers) {
            for (int at = 0; at < header.length(); ) {
                int semicolon = header.indexOf(';', at);
                int end = semicolon < 0 ? header.length() : semicolon;
                int equals = header.indexOf('=', at);
                if (equals >= 0 && equals < end) {
                    String name = header.substring(at, equals).strip();
                    String value = unquoted(header.substring(equals + 1, end).strip());
                    if (!name.isEmpty() && !pair.test(name, value)) {
                        return;
                    }
                }
                at = end + 1;
            }
        }
    }

    private static String unquoted(String value) {
        int last = value.length() - 1;
        return last > 0 && value.charAt(0) == '"' && value.charAt(last) == '"'
                ? value.substring(1, last)
                : value;
    }

    private static @Nullable String decode(String raw) {
        return raw.chars().allMatch(c -> c < 0x80) ? raw : Texts.utf8(raw.getBytes(ISO_8859_1));
    }
}
