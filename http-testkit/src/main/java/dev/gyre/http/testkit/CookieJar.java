package dev.gyre.http.testkit;

import org.jspecify.annotations.Nullable;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The cookies of one host, kept between requests like in a browser.
///
/// `Max-Age` is measured by the clock of the loop, so it elapses in simulated time. `Expires` is
/// compared with the system clock.
///
/// **Threads.** The test's thread only.
final class CookieJar {
    private record Key(String name, String path) {}

    /// @param deadline on the loop's clock in nanoseconds; `null` for none
    private record Stored(String value, boolean secure, @Nullable Long deadline) {}

    private final Map<Key, Stored> cookies = new LinkedHashMap<>();

    /// Stores the cookies of a response.
    ///
    /// @param requestPath without the query
    void store(List<String> setCookies, String requestPath, long nowNanos) {
        for (String header : setCookies) {
            store(header, requestPath, nowNanos);
        }
    }

    private void store(String header, String requestPath, long nowNanos) {
        String[] parts = header.split(";", -1);
        int equals = parts[0].indexOf('=');
        if (equals < 1) {
            return;
        }
        String path = defaultPath(requestPath);
        boolean secure = false;
        Long deadline = null;
        boolean hasMaxAge = false;
        for (int i = 1; i < parts.length; i++) {
            String[] attribute = parts[i].split("=", 2);
            String value = attribute.length == 2 ? attribute[1].strip() : "";
            switch (attribute[0].strip().toLowerCase(Locale.ROOT)) {
                case "path" -> path = value.startsWith("/") ? value : path;
                case "secure" -> secure = true;
                case "max-age" -> {
                    if (value.matches("-?[0-9]{1,9}")) {
                        long seconds = Math.max(0, Long.parseLong(value));
                        deadline = nowNanos + seconds * 1_000_000_000L;
                        hasMaxAge = true;
                    }
                }
                case "expires" -> {
                    if (!hasMaxAge && isPast(value)) {
                        deadline = nowNanos;
                    }
                }
                default -> {}
            }
        }
        Key key = new Key(parts[0].substring(0, equals).strip(), path);
        cookies.remove(key);
        cookies.put(key, new Stored(parts[0].substring(equals + 1).strip(), secure, deadline));
    }

    private static boolean isPast(String date) {
        try {
            Instant expires = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
            return expires.isBefore(Instant.now());
        } catch (DateTimeException e) {
            return false;
        }
    }

    private static String defaultPath(String requestPath) {
        int slash = requestPath.lastIndexOf('/');
        return slash <= 0 ? "/" : requestPath.substring(0, slash);
    }

    /// Returns the cookies to send, those with longer paths first.
    Map<String, String> matching(String requestPath, boolean isSecure, long nowNanos) {
        dropExpired(nowNanos);
        Map<String, String> matching = new LinkedHashMap<>();
        cookies.entrySet().stream()
                .filter(cookie -> isSecure || !cookie.getValue().secure)
                .filter(cookie -> isBelow(requestPath, cookie.getKey().path))
                .sorted(Comparator.comparingInt(cookie -> -cookie.getKey().path.length()))
                .forEach(
                        cookie ->
                                matching.putIfAbsent(
                                        cookie.getKey().name, cookie.getValue().value));
        return matching;
    }

    private static boolean isBelow(String requestPath, String path) {
        return requestPath.equals(path)
                || (requestPath.startsWith(path)
                        && (path.endsWith("/") || requestPath.charAt(path.length()) == '/'));
    }

    private void dropExpired(long nowNanos) {
        cookies.values()
                .removeIf(
                        stored -> {
                            Long deadline = stored.deadline;
                            return deadline != null && deadline - nowNanos <= 0;
                        });
    }

    /// Returns the value of the cookie with that name, on whatever path; `null` if absent.
    @Nullable String get(String name, long nowNanos) {
        dropExpired(nowNanos);
        for (Map.Entry<Key, Stored> cookie : cookies.entrySet()) {
            if (cookie.getKey().name.equals(name)) {
                return cookie.getValue().value;
            }
        }
        return null;
    }

    void clear() {
        cookies.clear();
    }
}
