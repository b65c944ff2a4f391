package dev.gyre.http.internal.server;

import dev.gyre.http.Handler;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// A pattern and its routes, one per method.
///
/// Loop thread only.
final class RouteEntry {
    final PathPattern pattern;
    final String text;

    /// The names of the parameters in order, the rest last.
    final List<String> parameters = new ArrayList<>();

    // A scan, not a map: a pattern has few methods, and the parser's method names are the same
    // instances as those of common routes.
    private final List<String> methods = new ArrayList<>();
    private final List<Route> routes = new ArrayList<>();
    private @Nullable Route any;

    RouteEntry(PathPattern pattern, String text) {
        this.pattern = pattern;
        this.text = text;
        for (PathPattern.Segment segment : pattern.segments()) {
            if (segment.isParameter()) {
                parameters.add(segment.text());
            }
        }
        if (!pattern.rest().isEmpty()) {
            parameters.add(pattern.rest());
        }
    }

    /// @throws IllegalArgumentException if the route exists
    Route add(String method, Handler handler, RouteScope<?> scope) {
        if (find(method) != null) {
            throw new IllegalArgumentException(
                    method + " " + text + " is registered twice: remove one route");
        }
        Route route = new Route(scope, this, handler);
        methods.add(method);
        routes.add(route);
        return route;
    }

    /// @throws IllegalArgumentException if the route exists
    Route addAny(Handler handler, RouteScope<?> scope) {
        if (any != null) {
            throw new IllegalArgumentException(
                    "any(\"" + text + "\") is registered twice: remove one route");
        }
        Route route = new Route(scope, this, handler);
        any = route;
        return route;
    }

    /// Returns the route of a method; `null` if absent.
    @Nullable Route route(String method) {
        Route exact = find(method);
        if (exact == null && method.equals("HEAD") && hasHead()) {
            exact = find("GET");
        }
        return exact != null ? exact : any;
    }

    private @Nullable Route find(String method) {
        for (int i = 0; i < methods.size(); i++) {
            if (methods.get(i).equals(method)) {
                return routes.get(i);
            }
        }
        return null;
    }

    /// Whether `GET` has a handler that also serves `HEAD`. A WebSocket's does not.
    private boolean hasHead() {
        Route get = find("GET");
        return get != null && !(get.handler instanceof WebSocketUpgrade);
    }

    /// Adds the methods for the `Allow` header.
    void addAllowed(Set<String> allowed) {
        allowed.addAll(methods);
        if (any != null) {
            allowed.addAll(List.of("DELETE", "GET", "PATCH", "POST", "PUT"));
        }
        if (any != null || hasHead()) {
            allowed.add("HEAD");
        }
        allowed.add("OPTIONS");
    }
}
