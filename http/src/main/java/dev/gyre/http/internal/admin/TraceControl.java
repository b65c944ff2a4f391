package dev.gyre.http.internal.admin;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.FormData;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.metrics.Trace;
import dev.gyre.metrics.TraceEvent;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Starts, stops and dumps the trace of the watched loops. A trace that it started stops after a
/// minute without `GET /trace`: its client may have died.
///
/// Loop thread of the admin address only.
final class TraceControl {
    private static final int DEFAULT_LIMIT = 1_000;
    private static final int MAX_LIMIT = 10_000;
    private static final Duration MAX_SILENCE = Duration.ofSeconds(60);

    private static final List<String> FILTERS = List.of("connection", "peer", "route", "all");

    private final Trace trace;
    private final EventLoop admin;

    // Loop thread only.
    private @Nullable String filter; // Of the last trace started here; null while off.
    private @Nullable Timer timeout;

    TraceControl(Trace trace, EventLoop admin) {
        this.trace = trace;
        this.admin = admin;
    }

    /// Responds to `GET /trace` with the newest events.
    Promise<?> dump(Request request, Response response) {
        String format = request.queryParam("format");
        if (format != null && !format.equals("text") && !format.equals("json")) {
            throw new HttpException(400, "query parameter format must be one of text, json");
        }
        int limit = (int) request.queryLong("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
        String connection = request.queryParam("connection");
        Long id = connection == null ? null : ConnectionSearch.parseId(connection);
        if (timeout != null && timeout.isScheduled()) {
            timeout.reschedule(MAX_SILENCE);
        }
        boolean on = trace.isOn();
        String startedWith = on ? filter : null;
        if (!"json".equals(format)) {
            return admin.promisify(_ -> TraceEvent.text(newest(events(id), limit)))
                    .then(response::text);
        }
        return admin.promisify(_ -> events(id))
                .then(
                        events -> {
                            Map<String, @Nullable Object> json = new LinkedHashMap<>();
                            json.put("on", on);
                            json.put("filter", startedWith);
                            json.put("total", events.size());
                            json.put("events", newest(events, limit));
                            return response.json(json);
                        });
    }

    /// Copies and sorts the events of all loops, so call it outside the loop.
    private List<TraceEvent> events(@Nullable Long connection) {
        return connection == null
                ? trace.events()
                : trace.events().stream().filter(e -> e.connection() == connection).toList();
    }

    private static List<TraceEvent> newest(List<TraceEvent> events, int limit) {
        return events.subList(Math.max(0, events.size() - limit), events.size());
    }

    /// Responds to `POST /trace`: drops earlier events and starts with the filter of the form.
    Promise<?> start(Request request, Response response) {
        return request.body()
                .form()
                .then(
                        form -> {
                            String name = filterIn(form);
                            Trace filtered = filtered(name, form);
                            trace.clear();
                            filtered.start();
                            filter = name.equals("all") ? name : name + ' ' + form.require(name);
                            stopLater();
                            return response.json(Map.of("on", true));
                        });
    }

    private void stopLater() {
        if (timeout == null) {
            timeout = admin.after(MAX_SILENCE, _ -> stop()).unreference();
        } else {
            timeout.reschedule(MAX_SILENCE);
        }
    }

    private static String filterIn(FormData form) {
        List<String> given = FILTERS.stream().filter(form::contains).toList();
        if (given.size() != 1) {
            throw new HttpException(
                    400,
                    "the form must have one of the fields "
                            + String.join(", ", FILTERS)
                            + ", but has "
                            + (given.isEmpty() ? "none" : String.join(", ", given)));
        }
        return given.getFirst();
    }

    private Trace filtered(String name, FormData form) {
        return switch (name) {
            case "connection" -> trace.connection(ConnectionSearch.parseId(form.require(name)));
            case "peer" -> trace.peer(address(form.require(name)));
            case "route" -> trace.route(form.require(name));
            default -> trace.all();
        };
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new HttpException(400, "field peer must be an IP address, such as 192.0.2.7", e);
        }
    }

    /// Responds to `DELETE /trace`. The events stay readable until the next start.
    Promise<?> stop(Request request, Response response) {
        stop();
        return response.json(Map.of("on", false));
    }

    private void stop() {
        trace.stop();
        filter = null;
        if (timeout != null) {
            timeout.cancel();
        }
    }
}
