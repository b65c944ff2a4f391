package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/// The health endpoint: 200 while the check succeeds, 503 if it fails or the server drains.
///
/// Loop thread only.
final class HealthHandler implements Handler {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final LoopServer server;
    private final String path;
    private final @Nullable Supplier<? extends Promise<?>> check;
    private boolean down;

    HealthHandler(LoopServer server, String path, @Nullable Supplier<? extends Promise<?>> check) {
        this.server = server;
        this.path = path;
        this.check = check;
    }

    @Override
    public Promise<?> handle(Request request, Response response) {
        response.header("Cache-Control", "no-store");
        if (server.isDrainRequested()) {
            return send(response, "draining");
        }
        Supplier<? extends Promise<?>> known = check;
        if (known == null) {
            return send(response, "up");
        }
        Promise<?> result;
        try {
            result = onThisLoop(known.get());
        } catch (RuntimeException e) {
            return down(response, e);
        }
        return result.orTimeout(TIMEOUT)
                .then(
                        value -> Boolean.FALSE.equals(value) ? down(response, null) : up(response),
                        failure -> down(response, failure));
    }

    /// Transfers the outcome of another loop's promise to this loop.
    @SuppressWarnings("ReferenceEquality") // A loop is only itself.
    private Promise<?> onThisLoop(@Nullable Promise<?> promise) {
        if (promise == null) {
            throw new IllegalStateException(
                    "the health check returned null: return a promise, such as that of"
                            + " loop.promisify(…)");
        }
        EventLoop loop = server.loop();
        return promise.loop() == loop ? promise : Promise.from(loop, promise.toFuture());
    }

    private Promise<?> up(Response response) {
        if (down) {
            down = false;
            HttpLog.LOGGER.log(
                    System.Logger.Level.INFO, "the health check of " + path + " succeeds again");
        }
        return send(response, server.isDrainRequested() ? "draining" : "up");
    }

    private Promise<?> down(Response response, @Nullable Throwable reason) {
        if (!down) {
            down = true;
            HttpLog.LOGGER.log(
                    System.Logger.Level.WARNING,
                    "the health check of "
                            + path
                            + " fails: it responds with 503 until the check succeeds",
                    reason);
        }
        return send(response, "down");
    }

    private static Promise<?> send(Response response, String status) {
        return response.status(status.equals("up") ? 200 : 503).json(Map.of("status", status));
    }
}
