package dev.gyre.http.internal.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.util.Locale;
import java.util.Set;

/// The request line and the headers of a request, and the origin that it is sent to.
///
/// Loop thread only.
public final class RequestHeadBuilder {
    private static final Set<String> IDEMPOTENT =
            Set.of("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE");

    /// Servers expect a length of these, even if it is 0.
    private static final Set<String> WITH_BODY = Set.of("POST", "PUT", "PATCH");

    private static final Set<String> RESERVED = Set.of("content-length", "transfer-encoding");

    private final HeaderList headers = new HeaderList();
    private String method;
    private Origin origin;
    private String target;

    public RequestHeadBuilder(String method, URI uri) {
        this.method = method;
        origin = Origin.of(uri);
        target = targetOf(uri);
    }

    /// Returns path and query.
    public static String targetOf(URI uri) {
        String path = uri.getRawPath();
        String query = uri.getRawQuery();
        return (path == null || path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
    }

    public String method() {
        return method;
    }

    public Origin origin() {
        return origin;
    }

    /// Returns path and query.
    public String target() {
        return target;
    }

    /// Returns the URI that the request is for.
    public URI uri() {
        return URI.create(origin + (target.equals("*") ? "/" : target));
    }

    public boolean isIdempotent() {
        return IDEMPOTENT.contains(method);
    }

    /// Whether the connection is closed after this request.
    public boolean isLast() {
        return headers.containsToken("Connection", "close");
    }

    public void set(String name, String value) {
        requireNotReserved(name);
        headers.set(name, value);
    }

    public void setDefault(String name, String value) {
        if (headers.get(name) == null) {
            headers.set(name, value);
        }
    }

    public void add(String name, String value) {
        requireNotReserved(name);
        if (name.equalsIgnoreCase("Host") && headers.get(name) != null) {
            throw new IllegalArgumentException("a request has only one Host: set it by header()");
        }
        headers.add(name, value);
    }

    private static void requireNotReserved(String name) {
        if (RESERVED.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    name + " is set automatically, from the body of send() or stream(length)");
        }
    }

    public void target(String other) {
        boolean begins = other.startsWith("/") || other.equals("*");
        if (!begins || other.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IllegalArgumentException(
                    "a target starts with a slash and has only ASCII characters without white"
                            + " space: percent-encode "
                            + other);
        }
        target = other;
    }

    /// Changes the request to that of a redirect, without headers that no longer apply: those of a
    /// dropped body, and those that are secret to, or name, another origin.
    public void redirect(String newMethod, URI to, boolean dropsBody) {
        Origin before = origin;
        method = newMethod;
        origin = Origin.of(to);
        target = targetOf(to);
        if (dropsBody) {
            headers.remove("Content-Encoding");
            headers.remove("Content-Language");
            headers.remove("Content-Location");
            headers.remove("Content-Type");
        }
        if (!origin.equals(before)) {
            headers.remove("Authorization");
            headers.remove("Cookie");
            headers.remove("Host");
            headers.remove("Proxy-Authorization");
        }
    }

    /// Returns the header with the length of a body; empty if the request needs none.
    public String framing(int bodyBytes) {
        return bodyBytes > 0 || WITH_BODY.contains(method)
                ? "Content-Length: " + bodyBytes + "\r\n"
                : "";
    }

    /// Returns the request line and the headers, with the empty line after them.
    ///
    /// @param framing the header that delimits the body; empty without a body
    public byte[] build(String framing) {
        StringBuilder text = new StringBuilder(256);
        text.append(method).append(' ').append(target).append(" HTTP/1.1\r\n");
        if (headers.get("Host") == null) {
            text.append("Host: ").append(origin.hostHeader()).append("\r\n");
        }
        if (headers.get("User-Agent") == null) {
            text.append("User-Agent: gyre\r\n");
        }
        text.append(framing);
        headers.appendTo(text);
        return text.append("\r\n").toString().getBytes(UTF_8);
    }

    @Override
    public String toString() {
        return method + " " + target;
    }
}
