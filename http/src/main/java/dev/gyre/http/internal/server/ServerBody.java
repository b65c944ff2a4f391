package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.Headers;
import dev.gyre.http.internal.body.DecodedBody;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The body of one request as a handler holds it: see [ServerRequest].
///
/// Loop thread, or that of a blocking handler, whose calls run on the loop unless the body is
/// whole.
final class ServerBody extends DecodedBody {
    /// The longest possible array.
    private static final int MAX_ARRAY_BYTES = Integer.MAX_VALUE - 8;

    private final Exchange exchange;
    private final int generation;
    private final LoopInvoker invoker;
    private final RequestBody source;

    // Loop thread only.
    private @Nullable BodyInputStream input;

    ServerBody(Exchange exchange, RequestBody source) {
        this.exchange = exchange;
        generation = exchange.generation();
        invoker = exchange.context.onLoop;
        this.source = source;
        source.onRelease(this::release);
    }

    RequestBody source() {
        return source;
    }

    private void release() {
        releaseDecoded();
        if (input != null) {
            input.release();
        }
    }

    @Override
    protected Context context() {
        return new Context(
                exchange.context.loop,
                exchange.context.heap,
                exchange.context.server.jsonMapper(),
                exchange.head.get("Content-Type"));
    }

    @Override
    protected boolean isOnWorker(String method) {
        return exchange.requireReadable(generation, method);
    }

    @Override
    protected <T> T onLoop(String method, Supplier<T> work) {
        return isOnWorker(method) ? callOnLoop(work) : work.get();
    }

    /// A promise may be rejected before the handler's thread waits for it, which handles the
    /// rejection.
    private <T> T callOnLoop(Supplier<T> work) {
        return invoker.call(
                () -> {
                    T result = work.get();
                    if (result instanceof Promise<?> promise) {
                        Promise<?> _ = promise.then(_ -> this, _ -> this);
                    }
                    return result;
                });
    }

    private Body runOnLoop(String method, Runnable work) {
        return onLoop(
                method,
                () -> {
                    work.run();
                    return this;
                });
    }

    @Override
    public long length() {
        boolean _ = isOnWorker("Body.length");
        return source.length();
    }

    @Override
    public Headers trailers() {
        boolean _ = isOnWorker("Body.trailers");
        return source.trailers();
    }

    // ------------------------------------------------------------------ all of it

    @Override
    public Promise<byte[]> bytes() {
        return bytes(MAX_ARRAY_BYTES);
    }

    @Override
    public Promise<byte[]> bytes(int limit) {
        boolean onWorker = isOnWorker("Body.bytes");
        if (limit < 0) {
            throw new IllegalArgumentException("the limit must not be negative: " + limit);
        }
        long max = source.requireWithin(limit);
        if (source.claimWhole() != null) {
            return source.wholePromise();
        }
        return onWorker ? callOnLoop(() -> source.collect(max)) : source.collect(max);
    }

    @Override
    public Promise<String> text() {
        return text(MAX_ARRAY_BYTES);
    }

    @Override
    public Promise<String> text(int limit) {
        return onLoop("Body.text", () -> bytes(limit).then(bytes -> new String(bytes, UTF_8)));
    }

    @Override
    public InputStream stream() {
        boolean onWorker = isOnWorker("Body.stream");
        byte[] whole = source.claimWhole();
        if (whole != null) {
            return new ByteArrayInputStream(whole);
        }
        if (!onWorker) {
            throw new IllegalStateException(
                    "reading a stream would block the loop: use onData, or a blocking handler");
        }
        BodyInputStream made = new BodyInputStream(invoker, source, exchange.context.heap);
        return invoker.call(
                () -> {
                    input = made;
                    source.claim(made::add, () -> made.finish(null), made::finish);
                    return made;
                });
    }

    // ------------------------------------------------------------------ callbacks

    @Override
    protected void claim(
            Consumer<? super Buffer> data, Runnable end, Consumer<? super Throwable> failed) {
        source.claim(data, end, failed);
    }

    @Override
    public Body onData(Consumer<? super Buffer> callback) {
        return runOnLoop("Body.onData", () -> source.onData(callback));
    }

    @Override
    public Body onEnd(Runnable callback) {
        return runOnLoop("Body.onEnd", () -> source.onEnd(callback));
    }

    @Override
    public Body onFailure(Consumer<? super Throwable> callback) {
        return runOnLoop("Body.onFailure", () -> source.onFailure(callback));
    }

    @Override
    public void pause() {
        Body _ = runOnLoop("Body.pause", () -> source.pause(true));
    }

    @Override
    public void resume() {
        Body _ = runOnLoop("Body.resume", () -> source.pause(false));
    }
}
