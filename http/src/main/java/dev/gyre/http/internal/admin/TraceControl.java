package dev.gyre.http.internal.admin;

import dev.gyre.Promise;
import dev.gyre.http.FormData;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.metrics.Trace;
import dev.gyre.metrics.TraceEvent;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Starts, stops and dumps the trace of the watched loops.
///
/// Loop thread of the admin address only.
record TraceControl(Trace trace) {
    /// The max number of events in a response. The newest ones count.
    private static final int MAX_EVENTS = 10_000;

    private static final List<String> FILTERS = List.of("connection", "peer", "route", "all");

    /// Responds to `GET /trace`.
    Promise<?> dump(Request request, Response response) {
        String format = request.queryParam("format");
        if (format != null && !format.equals("text") && !format.equals("json")) {
            throw new HttpException(400, "query parameter format must be one of text, json");
        }
        List<TraceEvent> events = events(request.queryParam("connection"));
        List<TraceEvent> newest =
                events.subList(Math.max(0, events.size() - MAX_EVENTS), events.size());
        if (!"json".equals(format)) {
            return response.text(TraceEvent.text(newest));
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("on", trace.isOn());
        json.put("total", events.size());
        json.put("events", newest);
        return response.json(json);
    }

    private List<TraceEvent> events(@Nullable String connection) {
        if (connection == null) {
            return trace.events();
        }
        long id = ConnectionSearch.parseId(connection);
        return trace.events().stream().filter(event -> event.connection() == id).toList();
    }

    /// Responds to `POST /trace`: drops earlier events and starts with the filter of the form.
    Promise<?> start(Request request, Response response) {
        return request.body()
                .form()
                .then(
                        form -> {
                            Trace filtered = filter(form);
                            trace.clear();
                            filtered.start();
                            return response.json(Map.of("on", true));
                        });
    }

    private Trace filter(FormData form) {
        List<String> given = FILTERS.stream().filter(form::contains).toList();
        if (given.size() != 1) {
            throw new HttpException(
                    400,
                    "the form must have one of the fields "
                            + String.join(", ", FILTERS)
                            + ", but has "
                            + (given.isEmpty() ? "none" : String.join(", ", given)));
        }
        String name = given.getFirst();
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
        trace.stop();
        return response.json(Map.of("on", false));
    }
}
