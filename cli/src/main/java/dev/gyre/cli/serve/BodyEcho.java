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

import java.util.Objects;

/// Sends the content of a request back while it arrives, as fast as the peer takes it and no faster.
///
/// Loop thread only.
final class BodyEcho {
    private final EventLoop loop;
    private final Body body;
    private final Deferred<@Nullable Void> done;

    // Loop thread only.
    private @Nullable ResponseStream begun;

    private BodyEcho(EventLoop loop, Body body) {
        this.loop = loop;
        this.body = body;
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
        BodyEcho echo = new BodyEcho(request.loop(), body);
        // First, so that a peer that waits to be told to send its content is told before it is
        // answered.
        echo.read();
        echo.write(response.stream());
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

    private void write(ResponseStream out) {
        begun = out;
        ResponseStream _ = out.onWritable(body::resume).onClose(() -> done.resolve(null));
    }

    private ResponseStream out() {
        return Objects.requireNonNull(begun, "content comes when the handler has returned");
    }

    /// What is amiss with the content has to cut the answer off. Not so a peer that is gone: there is nothing left
    /// to cut.
    private void fail(Throwable reason) {
        loop.microtask(
                () -> {
                    if (out().isOpen()) {
                        done.reject(reason);
                    }
                });
    }
}
