package dev.gyre.http;

import static java.util.stream.Collectors.toUnmodifiableSet;

import dev.gyre.Promise;
import dev.gyre.http.internal.server.ServerResponse;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/// Lets pages of other origins use this server from a browser.
///
/// ```java
/// server.use(Cors.of("https://app.example").withMethods("GET", "POST", "DELETE").withHeaders("Content-Type"));
/// ```
///
/// **Preflights**, by which a browser asks before it sends the real request, are answered with 204 and never reach
/// a handler; those of an origin that is not allowed with 403. **Other requests** are handed on, and their answers,
/// errors included, say which origin may read them; requests of an origin that is not allowed are answered all the
/// same, but the browser keeps the answer to itself. It is no protection against others than browsers.
///
/// Put it in front of middleware that answers by itself, as one that asks for a password: preflights never have any.
///
/// **Threads.** Immutable: each `with` method returns a changed copy. One serves any number of servers and loops.
public final class Cors implements Middleware, Cloneable {
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

    /// Allows any origin: for what everybody may see.
    public static Cors anyOrigin() {
        return new Cors(Set.of(ANY));
    }

    /// Allows some origins.
    ///
    /// @param origins scheme, host, and a port that is not the usual one, as in `https://app.example:8443`. Capitals and the usual
    ///     port are left out, as browsers do; names are those of the network (`xn--…`)
    /// @throws IllegalArgumentException if one of them is none, so that no browser could ever say it
    public static Cors of(String... origins) {
        return new Cors(Stream.of(origins).map(Cors::asSaid).collect(toUnmodifiableSet()));
    }

    /// An origin as browsers say it.
    private static String asSaid(String origin) {
        String said = origin.toLowerCase(Locale.ROOT);
        if (!said.matches("[a-z][a-z0-9+.-]*://([a-z0-9._~-]+|\\[[0-9a-f:.]+])(:[0-9]{1,5})?")) {
            throw new IllegalArgumentException(
                    "an origin is scheme, host and perhaps a port, one of each and without a slash"
                            + " at the end: "
                            + origin);
        }
        return said.replaceFirst("^(http://.*):80$|^(https://.*):443$", "$1$2");
    }

    // ------------------------------------------------------------------ settings

    /// Which methods are allowed. Without this `GET`, `HEAD` and `POST`.
    public Cors withMethods(String... methods) {
        Cors changed = copy();
        changed.methods = list("method", methods);
        return changed;
    }

    /// Which header fields a request may have beyond those that any page may set.
    public Cors withHeaders(String... names) {
        Cors changed = copy();
        changed.headers = list("header field", names);
        return changed;
    }

    /// Which header fields of an answer a page may see beyond those that any page may see.
    public Cors withExposed(String... names) {
        Cors changed = copy();
        changed.exposed = list("header field", names);
        return changed;
    }

    /// Whether requests may come with cookies, and pages read the answers.
    ///
    /// @throws IllegalArgumentException if any origin is allowed: every page could act in its visitor's name
    public Cors withCredentials(boolean allowed) {
        if (allowed && origins.contains(ANY)) {
            throw new IllegalArgumentException(
                    "with credentials the origins have to be named: use Cors.of");
        }
        Cors changed = copy();
        changed.credentials = allowed;
        return changed;
    }

    /// How long a browser need not ask again. Without this ten minutes.
    ///
    /// @throws IllegalArgumentException if it is negative
    public Cors withMaxAge(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("maxAge is never negative: " + time);
        }
        Cors changed = copy();
        changed.maxAgeSeconds = time.toSeconds();
        return changed;
    }

    private static String list(String what, String... names) {
        for (String name : names) {
            if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+")) {
                throw new IllegalArgumentException("that is no name of a " + what + ": " + name);
            }
        }
        return String.join(", ", List.of(names));
    }

    private Cors copy() {
        try {
            return (Cors) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    // ------------------------------------------------------------------ requests

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        String origin = request.header("Origin");
        if (!origins.contains(ANY)) {
            // Also of answers without: a cache between must not give them to others.
            ((ServerResponse) response).addLasting("Vary", "Origin");
        }
        if (origin == null) {
            return next.handle(request, response);
        }
        String allowed = allowed(origin);
        boolean asks =
                request.method().equals("OPTIONS")
                        && request.headers().contains("Access-Control-Request-Method");
        if (asks) {
            return allowed == null
                    ? response.status(403).text("this origin is not allowed\n")
                    : answer(response, allowed);
        }
        if (allowed != null) {
            allow(response, allowed);
            if (!exposed.isEmpty()) {
                ((ServerResponse) response).addLasting("Access-Control-Expose-Headers", exposed);
            }
        }
        return next.handle(request, response);
    }

    private @Nullable String allowed(String origin) {
        return origins.contains(ANY) ? ANY : origins.contains(origin) ? origin : null;
    }

    private void allow(Response response, String origin) {
        ((ServerResponse) response).addLasting("Access-Control-Allow-Origin", origin);
        if (credentials) {
            ((ServerResponse) response).addLasting("Access-Control-Allow-Credentials", "true");
        }
    }

    private Promise<?> answer(Response response, String origin) {
        allow(response, origin);
        response.header("Access-Control-Allow-Methods", methods);
        if (!headers.isEmpty()) {
            response.header("Access-Control-Allow-Headers", headers);
        }
        response.header("Access-Control-Max-Age", Long.toString(maxAgeSeconds));
        return response.status(204).send();
    }
}
