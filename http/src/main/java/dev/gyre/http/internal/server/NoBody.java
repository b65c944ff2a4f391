package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.NoHeaders;
import dev.gyre.io.Buffer;

import java.io.InputStream;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The content of a request that has none.
///
/// Loop thread; a blocking handler's calls are carried out there.
final class NoBody implements Body {
    private final Exchange exchange;
    private final Workbench bench;
    private final int generation;

    /// As of content that there is: a handler that reads it twice is wrong, whoever asks.
    private final ContentReader reader = new ContentReader();

    NoBody(Exchange exchange) {
        this.exchange = exchange;
        bench = exchange.bench;
        generation = exchange.generation();
    }

    private <T> T onLoop(String method, Supplier<T> work) {
        if (exchange.isElsewhere(method)) {
            return bench.onLoop.call(() -> onLoop(method, work));
        }
        exchange.requireLive(generation);
        return work.get();
    }

    private <T> T claim(T outcome) {
        reader.claim(() -> {}, _ -> {});
        return outcome;
    }

    @Override
    public long length() {
        boolean _ = exchange.isElsewhere("Body.length");
        return 0;
    }

    @Override
    public Promise<byte[]> bytes() {
        return onLoop("Body.bytes", () -> claim(Promise.resolved(bench.loop, new byte[0])));
    }

    @Override
    public Promise<byte[]> bytes(int limit) {
        return bytes();
    }

    @Override
    public Promise<String> text() {
        return onLoop("Body.text", () -> claim(Promise.resolved(bench.loop, "")));
    }

    @Override
    public Promise<String> text(int limit) {
        return text();
    }

    @Override
    public Body onData(Consumer<? super Buffer> callback) {
        return onLoop(
                "Body.onData",
                () -> {
                    reader.begin();
                    return this;
                });
    }

    @Override
    public Body onEnd(Runnable callback) {
        return onLoop(
                "Body.onEnd",
                () -> {
                    reader.end(callback);
                    bench.loop.microtask(() -> end(callback));
                    return this;
                });
    }

    private void end(Runnable callback) {
        if (exchange.isCurrent(generation)) {
            exchange.outcome.goOn(callback);
        } else {
            UserCallbacks.guarded(callback);
        }
    }

    @Override
    public Body onFailure(Consumer<? super Throwable> callback) {
        return onLoop(
                "Body.onFailure",
                () -> {
                    reader.failure(callback);
                    return this;
                });
    }

    @Override
    public void pause() {
        boolean _ = exchange.isElsewhere("Body.pause");
    }

    @Override
    public void resume() {
        boolean _ = exchange.isElsewhere("Body.resume");
    }

    @Override
    public InputStream stream() {
        return onLoop("Body.stream", () -> claim(InputStream.nullInputStream()));
    }

    @Override
    public Headers trailers() {
        boolean _ = exchange.isElsewhere("Body.trailers");
        return NoHeaders.INSTANCE;
    }
}
