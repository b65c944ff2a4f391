package dev.gyre.cli.serve;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// Streams the request body back while it arrives, with backpressure.
///
/// Loop thread only.
final class BodyEcho {
    private final EventLoop loop;
    private final Body body;
    private final Response response;
    private final Deferred<@Nullable Void> done;

    // Loop thread only.
    private @Nullable ResponseStream started;

    private BodyEcho(EventLoop loop, Body body, Response response) {
        this.loop = loop;
        this.body = body;
        this.response = response;
        done = loop.deferred();
    }

    static Promise<?> respond(Request request, Response response) {
        Body body = request.body();
        String type = request.header("Content-Type");
        response.type(type == null ? "application/octet-stream" : type)
                .header("X-Content-Type-Options", "nosniff");
        if (body.length() == 0) {
            return response.send();
        }
        if (body.length() > 0) {
            response.header("Content-Length", Long.toString(body.length()));
        }
        BodyEcho echo = new BodyEcho(request.loop(), body, response);
        echo.read();
        return echo.done.promise();
    }

    private void read() {
        Body _ =
                body.onEnd(
                                () -> {
                                    Promise<?> _ = out().end();
                                    done.resolve(null);
                                })
                        .onFailure(this::fail)
                        .onData(this::write);
    }

    private void write(Buffer data) {
        if (!out().write(data)) {
            body.pause();
        }
    }

    /// Starts the response with the first data or the end of the body: an earlier failure gets its
    /// own status.
    private ResponseStream out() {
        ResponseStream known = started;
        if (known == null) {
            known = response.stream();
            started = known.onWritable(body::resume).onClose(() -> done.resolve(null));
        }
        return known;
    }

    /// A broken body must abort a response that has started. A disconnected client needs nothing.
    private void fail(Throwable reason) {
        loop.microtask(
                () -> {
                    ResponseStream known = started;
                    if (known == null || known.isOpen()) {
                        done.reject(reason);
                    }
                });
    }
}
