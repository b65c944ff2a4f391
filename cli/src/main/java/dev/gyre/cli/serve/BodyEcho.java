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

/// Sends the content of a request back while it arrives, as fast as the peer takes it and no faster.
///
/// Loop thread only.
final class BodyEcho {
    private final EventLoop loop;
    private final Body body;
    private final Response response;
    private final Deferred<@Nullable Void> done;

    // Loop thread only.
    private @Nullable ResponseStream begun;

    private BodyEcho(EventLoop loop, Body body, Response response) {
        this.loop = loop;
        this.body = body;
        this.response = response;
        done = loop.deferred();
    }

    static Promise<?> answer(Request request, Response response) {
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
                        .onData(this::pass);
    }

    private void pass(Buffer data) {
        if (!out().write(data)) {
            body.pause();
        }
    }

    /// Begins with the first of the content, or its end: whatever is amiss until then has a status of its own.
    private ResponseStream out() {
        ResponseStream known = begun;
        if (known == null) {
            known = response.stream();
            begun = known.onWritable(body::resume).onClose(() -> done.resolve(null));
        }
        return known;
    }

    /// What is amiss with the content has to cut off an answer that has begun. Not so a peer that is gone: there is
    /// nothing left to cut.
    private void fail(Throwable reason) {
        loop.microtask(
                () -> {
                    ResponseStream known = begun;
                    if (known == null || known.isOpen()) {
                        done.reject(reason);
                    }
                });
    }
}
