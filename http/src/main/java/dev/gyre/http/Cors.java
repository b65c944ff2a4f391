package dev.gyre.http;

import static java.util.stream.Collectors.toUnmodifiableSet;

import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/// Lets pages of other origins use this server from a browser (CORS).
///
/// ```java
/// server.use(Cors.of("https://app.example").withMethods("GET", "POST", "DELETE")
///         .withHeaders("Content-Type"));
/// ```
///
/// **Preflight requests** get 204 and never reach a handler, or 403 if their origin is not allowed.
/// **Other requests** are passed on. Their responses, errors included, name the allowed origin.
/// Requests of other origins are handled too, but the browser hides the response from the page.
/// CORS protects against browsers' pages only, not against other clients.
///
/// **Order.** Add it before middleware that rejects requests, such as authentication: preflight
/// requests have no credentials.
///
/// **Threads.** Immutable: each `with` method returns a changed copy. One instance serves any
/// number of servers and loops.
public final class Cors extends Settings<Cors> implements Middleware {
    private static final String ANY = "*";

    private final Set<String> origins;
    private String methods = "GET, HEAD, POST";
    private String headers = "";
    private String exposed = "";
    private boolean credentials;
    private long maxAgeSeconds = 600;

    private Cors(Set<String> origins) {
        this.origins = origins;
    }

    /// Allows any origin, for public resources.
    public static Cors anyOrigin() {
        return new Cors(Set.of(ANY));
    }

    /// Allows some origins.
    ///
    /// @param origins scheme, host and, unless it is the scheme's default, port:
    ///     `https://app.example:8443`. International names are written as `xn--…`
    /// @throws IllegalArgumentException if an origin is malformed, so no browser could send it
    public static Cors of(String... origins) {
        return new Cors(Stream.of(origins).map(Cors::normalized).collect(toUnmodifiableSet()));
    }

    /// Returns an origin as browsers send it: in lower case, without a default port.
    private static String normalized(String origin) {
        String lower = origin.toLowerCase(Locale.ROOT);
        if (!lower.matches("[a-z][a-z0-9+.-]*://([a-z0-9._~-]+|\\[[0-9a-f:.]+])(:[0-9]{1,5})?")) {
            throw new IllegalArgumentException(
                    "an origin must be scheme, host and optional port, without a slash at the end,"
                            + " but is "
                            + origin);
        }
        return lower.replaceFirst("^(http://.*):80$|^(https://.*):443$", "$1$2");
    }

    // ------------------------------------------------------------------ settings

    /// Returns a copy that allows these methods. Default `GET`, `HEAD` and `POST`.
    public Cors withMethods(String... methods) {
        String list = list("method", methods);
        return with(copy -> copy.methods = list);
    }

    /// Returns a copy that allows these request headers, beyond those that any page may set.
    public Cors withHeaders(String... names) {
        String list = list("header", names);
        return with(copy -> copy.headers = list);
    }

    /// Returns a copy that lets pages read these response headers, beyond those that any page may
    /// read.
    public Cors withExposedHeaders(String... names) {
        String list = list("header", names);
        return with(copy -> copy.exposed = list);
    }

    /// Returns a copy that allows requests with cookies, or does not. Default false.
    ///
    /// @throws IllegalArgumentException if any origin is allowed: every page could act as its
    ///     visitor
    public Cors withCredentials(boolean allowed) {
        if (allowed && origins.contains(ANY)) {
            throw new IllegalArgumentException(
                    "credentials require named origins: use Cors.of in place of anyOrigin");
        }
        return with(copy -> copy.credentials = allowed);
    }

    /// Returns a copy with this time for which browsers cache a preflight response, at least zero.
    /// Default 10 minutes.
    public Cors withMaxAge(Duration maxAge) {
        Limits.zeroOrMore("maxAge", maxAge);
        return with(copy -> copy.maxAgeSeconds = maxAge.toSeconds());
    }

    private static String list(String what, String... names) {
        for (String name : names) {
            if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+")) {
                throw new IllegalArgumentException(
                        what
                                + " must be a token (letters, digits and !#$%&'*+-.^_`|~), but is '"
                                + name
                                + "'");
            }
        }
        return String.join(", ", List.of(names));
    }

    // ------------------------------------------------------------------ requests

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        String origin = request.header("Origin");
        if (!origins.contains(ANY)) {
            // On all responses: a shared cache must keep them apart.
            response.addHeader("Vary", "Origin");
        }
        if (origin == null) {
            return next.handle(request, response);
        }
        String allowed = allowed(origin);
        boolean preflight =
                request.method().equals("OPTIONS")
                        && request.headers().contains("Access-Control-Request-Method");
        if (preflight) {
            return allowed == null
                    ? response.status(403).text("this origin is not allowed\n")
                    : preflight(response, allowed);
        }
        if (allowed != null) {
            allow(response, allowed);
            if (!exposed.isEmpty()) {
                response.addHeader("Access-Control-Expose-Headers", exposed);
            }
        }
        return next.handle(request, response);
    }

    private @Nullable String allowed(String origin) {
        return origins.contains(ANY) ? ANY : origins.contains(origin) ? origin : null;
    }

    private void allow(Response response, String origin) {
        response.addHeader("Access-Control-Allow-Origin", origin);
        if (credentials) {
            response.addHeader("Access-Control-Allow-Credentials", "true");
        }
    }

    private Promise<?> preflight(Response response, String origin) {
        allow(response, origin);
        response.header("Access-Control-Allow-Methods", methods);
        if (!headers.isEmpty()) {
            response.header("Access-Control-Allow-Headers", headers);
        }
        response.header("Access-Control-Max-Age", Long.toString(maxAgeSeconds));
        return response.status(204).send();
    }
}
