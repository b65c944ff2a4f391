package dev.gyre.http.internal.server;

import dev.gyre.Cancellation;
import dev.gyre.EventLoop;
import dev.gyre.http.Attribute;
import dev.gyre.http.Body;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.internal.message.Percent;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The request as a handler holds it: which exchange, and which generation of it, as in
/// [ServerResponse]. Decodes the head's bytes on demand.
public final class ServerRequest implements Request {
    private final Exchange exchange;
    private final int generation;

    ServerRequest(Exchange exchange) {
        this.exchange = exchange;
        generation = exchange.generation();
    }

    /// The exchange that serves it.
    ///
    /// @throws IllegalStateException if it has ended
    Exchange exchange() {
        exchange.requireLive(generation);
        return exchange;
    }

    /// @param method which is called: it may be on a wrong thread
    private RequestHead head(String method) {
        HttpConnection _ = connection(method);
        return exchange.head;
    }

    private HttpConnection connection(String method) {
        boolean _ = exchange.isElsewhere(method);
        return exchange.connection(generation);
    }

    @Override
    public String method() {
        return head("Request.method").method();
    }

    @Override
    public String target() {
        return head("Request.target").target();
    }

    @Override
    public String path() {
        RequestHead _ = head("Request.path");
        return Percent.require(exchange.rawPath(), false);
    }

    @Override
    public String path(String parameter) {
        HttpConnection _ = connection("Request.path");
        int at = exchange.parameters.indexOf(parameter);
        if (at < 0) {
            throw new IllegalArgumentException(
                    "the route has no parameter " + parameter + ", but " + exchange.parameters);
        }
        return requireWithin(exchange.values.get(at));
    }

    /// Those who make a file's name of it, and check nothing, stay where they are.
    private static String requireWithin(String value) {
        boolean leadsOut = value.startsWith("/");
        for (int from = 0; from <= value.length() && !leadsOut; ) {
            int slash = value.indexOf('/', from);
            int end = slash < 0 ? value.length() : slash;
            int dots = end - from;
            leadsOut = dots > 0 && dots <= 2 && "..".startsWith(value.substring(from, end));
            from = end + 1;
        }
        if (leadsOut) {
            throw new HttpException(400, "there is no . or .. in a path here, nor an empty name");
        }
        return value;
    }

    @Override
    public @Nullable String query() {
        RequestHead head = head("Request.query");
        return head.pathEnd() == head.targetEnd()
                ? null
                : head.text(head.pathEnd() + 1, head.targetEnd());
    }

    @Override
    public @Nullable String query(String parameter) {
        List<String> found = queries(parameter, 1);
        return found.isEmpty() ? null : found.getFirst();
    }

    @Override
    public List<String> queries(String parameter) {
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
            if (found.size() < most && parameter.equals(Percent.decode(name, true))) {
                found.add(equals < 0 ? "" : Percent.require(pair.substring(equals + 1), true));
            }
        }
        return found;
    }

    @Override
    public long query(String parameter, long otherwise, long least, long most) {
        String text = query(parameter);
        if (text == null) {
            return otherwise;
        }
        try {
            long value = Long.parseLong(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Answered below: to the peer it is the same mistake.
        }
        throw new HttpException(
                400, parameter + " is a number from " + least + " to " + most + ", not " + text);
    }

    @Override
    public boolean isHttp10() {
        return head("Request.isHttp10").isHttp10();
    }

    @Override
    public Headers headers() {
        RequestHead head = head("Request.headers");
        return new RequestHeaders(exchange, head);
    }

    @Override
    public @Nullable String header(String name) {
        return head("Request.header").get(name);
    }

    @Override
    public Body body() {
        HttpConnection _ = connection("Request.body");
        return exchange.content();
    }

    @Override
    @SuppressWarnings("unchecked") // What set() took is what its key is for.
    public <T> @Nullable T get(Attribute<T> attribute) {
        HttpConnection _ = connection("Request.get");
        Map<Attribute<?>, Object> known = exchange.attributes;
        return known == null ? null : (T) known.get(attribute);
    }

    @Override
    public <T> Request set(Attribute<T> attribute, @Nullable T value) {
        HttpConnection _ = connection("Request.set");
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
    public SocketAddress peer() {
        return connection("Request.peer").stream().peer();
    }

    @Override
    public @Nullable TlsSession tls() {
        return connection("Request.tls").stream().tls();
    }

    @Override
    public Cancellation cancellation() {
        return exchange.isElsewhere("Request.cancellation")
                ? exchange.bench.onLoop.call(() -> exchange.cancellation(generation))
                : exchange.cancellation(generation);
    }

    @Override
    public EventLoop loop() {
        return exchange.bench.loop;
    }

    @Override
    public String toString() {
        if (exchange.isForeignHere()) {
            return "a request of loop " + exchange.bench.loop.config().name();
        }
        return exchange.isForgotten(generation)
                ? "a request that has ended"
                : method() + " " + target();
    }
}
