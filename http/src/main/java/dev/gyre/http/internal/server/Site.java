package dev.gyre.http.internal.server;

import dev.gyre.http.Handler;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// A pattern, and who answers which method there.
///
/// Loop thread only.
final class Site {
    final Pattern pattern;
    final String text;

    /// The names of the parameters in their order, the rest last.
    final List<String> parameters = new ArrayList<>();

    private final List<String> methods = new ArrayList<>();
    private final List<Handler> handlers = new ArrayList<>();
    private @Nullable Handler any;

    /// 0 for that of the server.
    private long maxBody;

    Site(Pattern pattern, String text) {
        this.pattern = pattern;
        this.text = text;
        for (Pattern.Segment segment : pattern.segments()) {
            if (segment.isParameter()) {
                parameters.add(segment.text());
            }
        }
        if (!pattern.rest().isEmpty()) {
            parameters.add(pattern.rest());
        }
    }

    /// @throws IllegalArgumentException if it is taken
    void add(String method, Handler handler) {
        if (find(method) != null) {
            throw new IllegalArgumentException(method + " " + text + " has a handler already");
        }
        methods.add(method);
        handlers.add(handler);
    }

    /// @throws IllegalArgumentException if it is taken
    void addAny(Handler handler) {
        if (any != null) {
            throw new IllegalArgumentException("any method of " + text + " has a handler already");
        }
        any = handler;
    }

    /// Who answers a method; null if nobody does.
    @Nullable Handler handler(String method) {
        Handler exact = find(method);
        if (exact == null && method.equals("HEAD") && answersHead()) {
            exact = find("GET");
        }
        return exact != null ? exact : any;
    }

    private @Nullable Handler find(String method) {
        for (int i = 0; i < methods.size(); i++) {
            if (methods.get(i).equals(method)) {
                return handlers.get(i);
            }
        }
        return null;
    }

    /// Whether there is a `GET` that has a head without content: of a WebSocket there is none.
    private boolean answersHead() {
        Handler get = find("GET");
        return get != null && !(get instanceof Upgrade);
    }

    /// Adds what is allowed here, for the `Allow` field.
    void addAllowed(Set<String> allowed) {
        allowed.addAll(methods);
        if (any != null) {
            allowed.addAll(List.of("DELETE", "GET", "PATCH", "POST", "PUT"));
        }
        if (any != null || answersHead()) {
            allowed.add("HEAD");
        }
        allowed.add("OPTIONS");
    }

    /// Changes how many bytes of content a request may have here.
    void limitBody(long bytes) {
        maxBody = bytes;
    }

    /// @param otherwise if nothing else was said of it
    long maxBody(long otherwise) {
        return maxBody == 0 ? otherwise : maxBody;
    }
}
