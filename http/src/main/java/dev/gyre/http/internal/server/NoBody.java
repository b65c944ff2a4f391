package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.NoHeaders;
import dev.gyre.io.Buffer;

import java.io.InputStream;
import java.util.function.Consumer;

/// The content of a request that has none.
final class NoBody implements Body {
    private final Exchange exchange;
    private final EventLoop loop;

    NoBody(Exchange exchange) {
        this.exchange = exchange;
        loop = exchange.bench.loop;
    }

    private <T> Promise<T> resolved(T value) {
        return exchange.isElsewhere()
                ? OnLoop.call(loop, () -> Promise.resolved(loop, value))
                : Promise.resolved(loop, value);
    }

    @Override
    public long length() {
        return 0;
    }

    @Override
    public Promise<byte[]> bytes() {
        return resolved(new byte[0]);
    }

    @Override
    public Promise<byte[]> bytes(int limit) {
        return bytes();
    }

    @Override
    public Promise<String> text() {
        return resolved("");
    }

    @Override
    public Promise<String> text(int limit) {
        return text();
    }

    @Override
    public Body onData(Consumer<? super Buffer> callback) {
        return this;
    }

    @Override
    public Body onEnd(Runnable callback) {
        loop.microtask(callback);
        return this;
    }

    @Override
    public Body onFailure(Consumer<? super Throwable> callback) {
        return this;
    }

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public InputStream stream() {
        return InputStream.nullInputStream();
    }

    @Override
    public Headers trailers() {
        return NoHeaders.INSTANCE;
    }
}
