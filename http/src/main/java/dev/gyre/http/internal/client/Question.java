package dev.gyre.http.internal.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.internal.message.FieldList;

import java.net.URI;
import java.util.Locale;
import java.util.Set;

/// What is asked of whom, as it is written down: the first line of a request, and its fields.
///
/// Loop thread only.
final class Question {
    private static final Set<String> IDEMPOTENT =
            Set.of("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE");

    /// Of these a server wants to hear that there is no content.
    private static final Set<String> WITH_CONTENT = Set.of("POST", "PUT", "PATCH");

    /// What says where the request ends is not for callers to say.
    private static final Set<String> OURS = Set.of("content-length", "transfer-encoding");

    private final String method;
    private final Origin origin;
    private final FieldList fields = new FieldList();
    private String target;

    Question(String method, Origin origin, URI uri) {
        this.method = method;
        this.origin = origin;
        String path = uri.getRawPath();
        String query = uri.getRawQuery();
        target = (path == null || path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
    }

    String method() {
        return method;
    }

    Origin origin() {
        return origin;
    }

    /// Whether asking twice is as good as asking once.
    boolean isIdempotent() {
        return IDEMPOTENT.contains(method);
    }

    /// Whether it says that nothing is asked after it.
    boolean isLast() {
        return fields.lists("Connection", "close");
    }

    // ------------------------------------------------------------------ writing it down

    void set(String name, String value) {
        requireNotOurs(name);
        fields.set(name, value);
    }

    void add(String name, String value) {
        requireNotOurs(name);
        if (name.equalsIgnoreCase("Host") && fields.get(name) != null) {
            throw new IllegalArgumentException("a request has one Host only: set it by header()");
        }
        fields.add(name, value);
    }

    private static void requireNotOurs(String name) {
        if (OURS.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    name
                            + " is seen to: it says what the content is that send() is given, or"
                            + " stream(length)");
        }
    }

    void target(String other) {
        boolean begins = other.startsWith("/") || other.equals("*");
        if (!begins || other.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IllegalArgumentException(
                    "a target begins with a slash and has no white space, and nothing that is not"
                            + " ASCII: percent-encode "
                            + other);
        }
        target = other;
    }

    // ------------------------------------------------------------------ the head

    /// The field that says so.
    String framing(int contentBytes) {
        return contentBytes > 0 || WITH_CONTENT.contains(method)
                ? "Content-Length: " + contentBytes + "\r\n"
                : "";
    }

    /// The first line and the fields, with the empty line behind them.
    ///
    /// @param framing the field that says where the content ends; empty without any
    byte[] head(String framing) {
        StringBuilder head = new StringBuilder(256);
        head.append(method).append(' ').append(target).append(" HTTP/1.1\r\n");
        if (fields.get("Host") == null) {
            head.append("Host: ").append(origin.field()).append("\r\n");
        }
        if (fields.get("User-Agent") == null) {
            head.append("User-Agent: gyre\r\n");
        }
        head.append(framing);
        fields.appendTo(head);
        return head.append("\r\n").toString().getBytes(UTF_8);
    }

    @Override
    public String toString() {
        return method + " " + target;
    }
}
