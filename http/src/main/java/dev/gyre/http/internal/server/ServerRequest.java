package dev.gyre.http.internal.server;

import dev.gyre.Cancellation;
import dev.gyre.EventLoop;
import dev.gyre.http.Attribute;
import dev.gyre.http.Body;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The request as a handler holds it: an exchange and its generation, as in [ServerResponse].
/// Decodes the head's bytes on demand.
public final class ServerRequest implements Request {
    private final Exchange exchange;
    private final int generation;

    ServerRequest(Exchange exchange) {
        this.exchange = exchange;
        generation = exchange.generation();
    }

    /// Returns the exchange that serves it.
    ///
    /// @throws IllegalStateException if it has ended
    Exchange exchange() {
        exchange.requireLive(generation);
        return exchange;
    }

    static IllegalStateException ended() {
        return new IllegalStateException(
                "this exchange has ended: its response is complete, or its connection closed. Do"
                        + " not keep a Request, Response or what they return beyond that: use"
                        + " response.onComplete for work after the response, and copy values that"
                        + " are needed later");
    }

    /// Checks that the calling thread may read the request, and that this has not ended.
    ///
    /// @param method the method that was called, for the message
    private Exchange readable(String method) {
        boolean _ = exchange.requireReadable(generation, method);
        return exchange;
    }

    @Override
    public String method() {
        return readable("Request.method").head.method();
    }

    @Override
    public String target() {
        return readable("Request.target").head.target();
    }

    @Override
    public String path() {
        Exchange _ = readable("Request.path");
        return PercentEncoding.require(exchange.head.rawPath(), false);
    }

    @Override
    public String pathParam(String parameter) {
        Exchange _ = readable("Request.pathParam");
        Route route = exchange.route;
        List<String> names =
                route == null || route.entry == null ? List.of() : route.entry.parameters;
        int at = names.indexOf(parameter);
        if (at < 0) {
            String pattern = route == null || route.entry == null ? "" : " " + route.entry.text;
            throw new IllegalArgumentException(
                    "the route%s has no parameter %s: it has %s"
                            .formatted(pattern, parameter, names.isEmpty() ? "none" : names));
        }
        return requireWithin(parameter, exchange.values.get(at));
    }

    /// Keeps handlers that use the value as a file name, without a check, inside their directory.
    private static String requireWithin(String parameter, String value) {
        boolean leadsOut = value.startsWith("/");
        for (int from = 0; from <= value.length() && !leadsOut; ) {
            int slash = value.indexOf('/', from);
            int end = slash < 0 ? value.length() : slash;
            int dots = end - from;
            leadsOut = dots > 0 && dots <= 2 && "..".startsWith(value.substring(from, end));
            from = end + 1;
        }
        if (leadsOut) {
            throw new HttpException(
                    400,
                    "path parameter "
                            + parameter
                            + " must not start with a slash, or contain . or .. as a name");
        }
        return value;
    }

    @Override
    public @Nullable String query() {
        RequestHead head = readable("Request.query").head;
        return head.pathEnd() == head.targetEnd()
                ? null
                : head.text(head.pathEnd() + 1, head.targetEnd());
    }

    @Override
    public @Nullable String queryParam(String parameter) {
        List<String> found = queries(parameter, 1);
        return found.isEmpty() ? null : found.getFirst();
    }

    @Override
    public List<String> queryParams(String parameter) {
        return List.copyOf(queries(parameter, Integer.MAX_VALUE));
    }

    private List<String> queries(String parameter, int most) {
        String query = query();
        if (query == null) {
            return List.of();
        }
        List<String> found = new ArrayList<>(1);
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            // One that is badly encoded is none that was asked for.
            if (found.size() < most && parameter.equals(PercentEncoding.decode(name, true))) {
                found.add(equals < 0 ? "" : decoded(parameter, pair.substring(equals + 1)));
            }
        }
        return found;
    }

    private static String decoded(String parameter, String value) {
        try {
            return PercentEncoding.require(value, true);
        } catch (HttpException e) {
            throw new HttpException(
                    e.status(), "query parameter " + parameter + ": " + e.getMessage(), e);
        }
    }

    @Override
    public boolean isHttp10() {
        return readable("Request.isHttp10").head.isHttp10();
    }

    @Override
    public Headers headers() {
        return new RequestHeaders(readable("Request.headers"));
    }

    @Override
    public @Nullable String header(String name) {
        return readable("Request.header").head.get(name);
    }

    @Override
    public Body body() {
        Exchange _ = readable("Request.body");
        return exchange.handlerBody();
    }

    @Override
    @SuppressWarnings("unchecked") // What set() took is what its key is for.
    public <T> @Nullable T get(Attribute<T> attribute) {
        Exchange _ = readable("Request.get");
        Map<Attribute<?>, Object> known = exchange.attributes;
        return known == null ? null : (T) known.get(attribute);
    }

    @Override
    public <T> Request set(Attribute<T> attribute, @Nullable T value) {
        Exchange _ = readable("Request.set");
        Map<Attribute<?>, Object> known = exchange.attributes;
        if (known == null) {
            known = new HashMap<>(4);
            exchange.attributes = known;
        }
        if (value == null) {
            known.remove(attribute);
        } else {
            known.put(Objects.requireNonNull(attribute, "attribute"), value);
        }
        return this;
    }

    @Override
    public SocketAddress remoteAddress() {
        return readable("Request.remoteAddress").readerConnection().stream().peer();
    }

    @Override
    public SocketAddress clientAddress() {
        return forwarded("Request.clientAddress").client();
    }

    @Override
    public String scheme() {
        String forwarded = forwarded("Request.scheme").scheme();
        return forwarded != null ? forwarded : tls() == null ? "http" : "https";
    }

    @Override
    public String host() {
        Exchange known = readable("Request.host");
        String forwarded =
                known.context.config.forwardedHost() ? forwarded("Request.host").host() : null;
        return forwarded != null ? forwarded : Objects.requireNonNullElse(header("Host"), "");
    }

    private Forwarded forwarded(String method) {
        SocketAddress remote = readable(method).readerConnection().stream().peer();
        TrustedProxies trusted = exchange.context.server.trustedProxies;
        return trusted == null
                ? new Forwarded(remote, null, null)
                : Forwarded.of(
                        trusted, exchange.context.config.forwardedHeaders(), remote, headers());
    }

    @Override
    public @Nullable String routePattern() {
        Exchange _ = readable("Request.routePattern");
        Route route = exchange.route;
        return route == null || route.entry == null ? null : route.entry.text;
    }

    @Override
    public long connectionId() {
        return readable("Request.connectionId").readerConnection().stream().id();
    }

    @Override
    public @Nullable TlsSession tls() {
        return readable("Request.tls").readerConnection().stream().tls();
    }

    @Override
    public Cancellation cancellation() {
        return exchange.requireReadable(generation, "Request.cancellation")
                ? exchange.context.onLoop.call(() -> exchange.cancellation(generation))
                : exchange.cancellation(generation);
    }

    @Override
    public EventLoop loop() {
        return exchange.context.loop;
    }

    @Override
    public String toString() {
        try {
            return method() + " " + target();
        } catch (WrongThreadException e) {
            return "a request of loop " + exchange.context.loop.config().name();
        } catch (IllegalStateException e) {
            return "a request that has ended";
        }
    }
}
