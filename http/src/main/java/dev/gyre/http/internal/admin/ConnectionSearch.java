package dev.gyre.http.internal.admin;

import static dev.gyre.http.internal.admin.AdminSources.seconds;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.io.StreamState;
import dev.gyre.metrics.ConnectionInfo;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Lists connections for `GET /connections`. A loop has at most one listing in flight, which
/// concurrent requests share. Its result is used for one second, so that polling does not keep the
/// loops busy, and is then released. A loop that does not respond within a second is named instead.
///
/// Loop thread of the admin address only.
final class ConnectionSearch {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;
    private static final Duration RESULT_AGE = Duration.ofSeconds(1);

    private static final Map<String, Comparator<ConnectionInfo>> ORDERS =
            Map.of(
                    "age", Comparator.comparing(ConnectionInfo::age),
                    "idle", Comparator.comparing(ConnectionInfo::idle),
                    "received", Comparator.comparingLong(ConnectionInfo::received),
                    "sent", Comparator.comparingLong(ConnectionInfo::sent),
                    "pending", Comparator.comparingLong(ConnectionInfo::pending));

    /// A listing in flight, or its result.
    private record Listing(CompletableFuture<List<ConnectionInfo>> result, long sinceNanos) {}

    /// The connections of all loops.
    ///
    /// @param lists the connections of each loop
    /// @param notResponding the names of loops whose connections are missing
    private record ListingResult(List<List<ConnectionInfo>> lists, List<String> notResponding) {
        Stream<ConnectionInfo> connections() {
            return lists.stream().flatMap(List::stream);
        }
    }

    private final AdminSources sources;
    private final EventLoop admin;

    // Loop thread only.
    private final Map<EventLoop, Listing> listings = new HashMap<>();

    ConnectionSearch(AdminSources sources, EventLoop admin) {
        this.sources = sources;
        this.admin = admin;
    }

    // ------------------------------------------------------------------ asking the loops

    private Promise<ListingResult> list(List<EventLoop> loops) {
        listings.keySet().retainAll(sources.loops().get());
        ListingResult found = new ListingResult(new ArrayList<>(), new ArrayList<>());
        List<Promise<Object>> pending = new ArrayList<>();
        for (EventLoop loop : loops) {
            String name = loop.config().name();
            Listing listing = listing(loop);
            if (isOverdue(listing)) {
                found.notResponding.add(name); // Without one more waiter, however long it lasts.
            } else {
                pending.add(
                        Promise.from(admin, listing.result)
                                .orTimeout(LoopFigures.RESPONSE_LIMIT)
                                .then(found.lists::add, _ -> found.notResponding.add(name))
                                .then(added -> added));
            }
        }
        return Promise.all(admin, pending).then(_ -> found);
    }

    private boolean isOverdue(Listing listing) {
        return !listing.result.isDone()
                && now() - listing.sinceNanos >= LoopFigures.RESPONSE_LIMIT.toNanos();
    }

    /// Returns the listing in flight or the last result, or starts a listing.
    private Listing listing(EventLoop loop) {
        Listing known = listings.get(loop);
        if (known == null) {
            Listing started = new Listing(loop.connections().toCompletableFuture(), now());
            listings.put(loop, started);
            Promise<?> _ =
                    Promise.from(admin, started.result)
                            .then(_ -> dropLater(loop, started), _ -> dropLater(loop, started));
            known = started;
        }
        return known;
    }

    private long now() {
        return admin.nanoTime();
    }

    private Timer dropLater(EventLoop loop, Listing done) {
        return admin.after(RESULT_AGE, _ -> listings.remove(loop, done)).unreference();
    }

    // ------------------------------------------------------------------ requests

    /// Returns the response to `GET /connections` as a JSON value.
    Promise<Map<String, Object>> search(Request request) {
        Predicate<ConnectionInfo> filter = filter(request);
        Comparator<ConnectionInfo> order = order(request.queryParam("sort")).reversed();
        long limit = request.queryLong("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
        return list(loopsOf(request.queryParam("loop")))
                .thenCompose(found -> admin.promisify(_ -> json(found, filter, order, limit)));
    }

    /// Sorts all connections, so call it outside the loop.
    private static Map<String, Object> json(
            ListingResult found,
            Predicate<ConnectionInfo> filter,
            Comparator<ConnectionInfo> order,
            long limit) {
        List<ConnectionInfo> all = found.connections().filter(filter).sorted(order).toList();
        Map<StreamState, Integer> states = new EnumMap<>(StreamState.class);
        found.connections().forEach(each -> states.merge(each.state(), 1, Integer::sum));
        Map<String, Integer> named = new LinkedHashMap<>();
        states.forEach((state, count) -> named.put(state.name(), count));
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("total", all.size());
        json.put("notResponding", found.notResponding);
        json.put("states", named);
        json.put("connections", all.stream().limit(limit).map(ConnectionSearch::json).toList());
        return json;
    }

    /// Returns the response to `GET /connections/{id}` as a JSON value.
    ///
    /// @throws HttpException 400 if the id is not a number
    Promise<Map<String, @Nullable Object>> find(String id) {
        long wanted = parseId(id);
        return list(sources.loops().get())
                .thenCompose(
                        found ->
                                admin.promisify(
                                        _ ->
                                                found.connections()
                                                        .filter(each -> each.id() == wanted)
                                                        .findFirst()
                                                        .map(ConnectionSearch::json)
                                                        .orElseThrow(
                                                                () -> notFound(wanted, found))));
    }

    /// @throws HttpException 400 if the id is not a number
    static long parseId(String id) {
        try {
            return Long.parseLong(id);
        } catch (NumberFormatException e) {
            throw new HttpException(400, "the id of a connection is a number", e);
        }
    }

    private static HttpException notFound(long id, ListingResult found) {
        String missing =
                found.notResponding.isEmpty()
                        ? ""
                        : ", or belongs to a loop that does not respond: "
                                + String.join(", ", found.notResponding);
        return new HttpException(
                404, "no open connection has the id " + id + ": it is closed" + missing);
    }

    private List<EventLoop> loopsOf(@Nullable String name) {
        List<EventLoop> all = sources.loops().get();
        if (name == null) {
            return all;
        }
        List<EventLoop> named =
                all.stream().filter(loop -> loop.config().name().equals(name)).toList();
        if (named.isEmpty()) {
            throw unknown("loop", all.stream().map(loop -> loop.config().name()).toList());
        }
        return named;
    }

    private static Predicate<ConnectionInfo> filter(Request request) {
        String state = request.queryParam("state");
        String peer = request.queryParam("peer");
        String activity = request.queryParam("activity");
        String text = request.queryParam("q");
        StreamState wanted = state == null ? null : stateOf(state);
        String part = text == null ? "" : text.toLowerCase(Locale.ROOT);
        return connection ->
                (wanted == null || connection.state() == wanted)
                        && (peer == null || AdminSources.text(connection.peer()).contains(peer))
                        && (activity == null || connection.activity().contains(activity))
                        && (part.isEmpty() || matches(connection, part));
    }

    /// Returns whether a text that users see contains the part, in lower case.
    private static boolean matches(ConnectionInfo connection, String part) {
        return Stream.of(
                        Long.toString(connection.id()),
                        AdminSources.text(connection.peer()),
                        connection.loop(),
                        connection.state().name(),
                        connection.activity())
                .anyMatch(text -> text.toLowerCase(Locale.ROOT).contains(part));
    }

    private static StreamState stateOf(String name) {
        for (StreamState each : StreamState.values()) {
            if (each.name().equalsIgnoreCase(name)) {
                return each;
            }
        }
        throw unknown("state", Arrays.stream(StreamState.values()).map(Enum::name).toList());
    }

    private static Comparator<ConnectionInfo> order(@Nullable String name) {
        Comparator<ConnectionInfo> order =
                ORDERS.get(name == null ? "age" : name.toLowerCase(Locale.ROOT));
        if (order == null) {
            throw unknown("sort", ORDERS.keySet().stream().sorted().toList());
        }
        return order;
    }

    private static HttpException unknown(String parameter, List<String> allowed) {
        return new HttpException(
                400,
                "query parameter %s must be one of %s"
                        .formatted(parameter, allowed.stream().collect(Collectors.joining(", "))));
    }

    private static Map<String, @Nullable Object> json(ConnectionInfo connection) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("id", connection.id());
        json.put("loop", connection.loop());
        json.put("peer", AdminSources.text(connection.peer()));
        json.put("local", AdminSources.text(connection.local()));
        json.put("state", connection.state());
        json.put("output", connection.outputState());
        json.put("ageSeconds", seconds(connection.age()));
        json.put("idleSeconds", seconds(connection.idle()));
        json.put("received", connection.received());
        json.put("sent", connection.sent());
        json.put("pending", connection.pending());
        json.put("tls", connection.tls());
        Duration next = connection.nextTimeout().orElse(null);
        json.put("nextTimeoutSeconds", next == null ? null : seconds(next));
        json.put("activity", connection.activity());
        return json;
    }
}
