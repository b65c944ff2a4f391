package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.EventStream;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.Percent;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/// The response as a handler holds it: which exchange, and which generation of it.
///
/// The [ResponseState] behind it serves one request after the other. A new handle is made for each
/// request, and every call compares generations, so a handle that outlives its request cannot reach
/// the next one. Only the caller refers to a handle, so the JIT compiler removes the allocation
/// where it inlines the handler.
///
/// Calls from a blocking handler's thread run on the loop.
public final class ServerResponse implements Response {
    private final Exchange exchange;
    private final int generation;

    ServerResponse(Exchange exchange) {
        this.exchange = exchange;
        generation = exchange.generation();
    }

    /// Whether it belongs to the request that the exchange serves now.
    boolean isOf(Exchange other) {
        return exchange == other && other.generation() == generation;
    }

    private boolean isElsewhere(String method) {
        return exchange.isElsewhere(method);
    }

    private <T> T onLoop(Supplier<T> work) {
        return exchange.bench.onLoop.call(work);
    }

    /// @throws IllegalStateException if the exchange has ended
    private ResponseState state() {
        exchange.requireLive(generation);
        return exchange.response;
    }

    // ------------------------------------------------------------------ the head

    @Override
    public Response status(int status) {
        Lines.requireStatus(status);
        if (isElsewhere("Response.status")) {
            return onLoop(() -> status(status));
        }
        state().status(status);
        return this;
    }

    @Override
    public int status() {
        boolean _ = isElsewhere("Response.status");
        return state().status();
    }

    @Override
    public Response header(String name, String value) {
        if (isElsewhere("Response.header")) {
            return onLoop(() -> header(name, value));
        }
        state().header(name, value);
        return this;
    }

    @Override
    public Response addHeader(String name, String value) {
        if (isElsewhere("Response.addHeader")) {
            return onLoop(() -> addHeader(name, value));
        }
        state().addHeader(name, value);
        return this;
    }

    @Override
    public @Nullable String header(String name) {
        boolean _ = isElsewhere("Response.header");
        return state().header(name);
    }

    /// Adds a header that stays when the handler fails and an error is sent. Loop thread only.
    public void addLasting(String name, String value) {
        state().addLasting(name, value);
    }

    /// Compresses the body if that saves enough. Loop thread only.
    void encode(Encoding encoding) {
        state().encode(encoding);
    }

    // ------------------------------------------------------------------ whole responses

    @Override
    public Promise<?> send() {
        return isElsewhere("Response.send")
                ? onLoop(this::send)
                : state().send(Lines.NONE, null, Lines.NONE);
    }

    @Override
    public Promise<?> send(byte[] content) {
        return isElsewhere("Response.send")
                ? onLoop(() -> send(content))
                : state().send(Lines.BYTES, null, content);
    }

    @Override
    public Promise<?> send(Buffer content) {
        return isElsewhere("Response.send")
                ? onLoop(() -> send(content))
                : state().send(Lines.BYTES, null, content.getBytes());
    }

    @Override
    public Promise<?> text(String content) {
        return isElsewhere("Response.text")
                ? onLoop(() -> text(content))
                : state().send(Lines.TEXT, content, Lines.NONE);
    }

    @Override
    public Promise<?> html(String content) {
        return isElsewhere("Response.html")
                ? onLoop(() -> html(content))
                : state().send(Lines.HTML, content, Lines.NONE);
    }

    @Override
    public Promise<?> json(@Nullable Object value) {
        boolean elsewhere = isElsewhere("Response.json");
        String text = exchange.bench.server.toJson(value);
        return elsewhere
                ? onLoop(() -> state().send(Lines.JSON, text, Lines.NONE))
                : state().send(Lines.JSON, text, Lines.NONE);
    }

    @Override
    public Promise<?> redirect(int status, String location) {
        Lines.requireRedirection(status);
        return status(status).header("Location", Percent.address(location)).send();
    }

    @Override
    public Promise<?> file(Path file) {
        if (!isElsewhere("Response.file")) {
            return beginFile(file);
        }
        CompletableFuture<Promise<?>> begun = new CompletableFuture<>();
        Promise<?> _ =
                onLoop(
                        () ->
                                beginFile(file)
                                        .then(
                                                _ -> begun.complete(exchange.bench.done),
                                                begun::completeExceptionally));
        return exchange.bench.onLoop.await(begun, () -> true);
    }

    private Promise<?> beginFile(Path file) {
        ResponseState _ = state();
        return exchange.bench.server.staticFiles.send(exchange, file);
    }

    // ------------------------------------------------------------------ streamed responses

    @Override
    public ResponseStream stream() {
        return isElsewhere("Response.stream") ? onLoop(this::stream) : state().begin(Lines.BYTES);
    }

    @Override
    public EventStream events() {
        return isElsewhere("Response.events") ? onLoop(this::events) : state().events();
    }

    // ------------------------------------------------------------------ afterwards

    @Override
    public boolean isAnswered() {
        boolean _ = isElsewhere("Response.isAnswered");
        return !exchange.isLive(generation) || exchange.response.isAnswered();
    }

    @Override
    public Response onDone(Runnable callback) {
        if (isElsewhere("Response.onDone")) {
            return onLoop(() -> onDone(callback));
        }
        if (exchange.isLive(generation)) {
            exchange.response.onDone(callback);
        } else {
            UserCallbacks.guarded(callback);
        }
        return this;
    }

    @Override
    public boolean isCutOff() {
        boolean _ = isElsewhere("Response.isCutOff");
        return state().isCutOff();
    }

    @Override
    public long contentBytes() {
        boolean _ = isElsewhere("Response.contentBytes");
        return state().contentBytes();
    }
}
