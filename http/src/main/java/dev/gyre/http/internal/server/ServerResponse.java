package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.EventStream;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// The response as a handler on the loop holds it: an exchange, and its generation.
///
/// The [ResponseState] behind it serves one request after the other. A new handle is made for each
/// request, and every call compares generations, so a handle that outlives its request cannot reach
/// the next one. Only the caller refers to a handle, so the JIT compiler removes the allocation
/// where it inlines the handler.
///
/// Loop thread only. A blocking handler has a [BlockingResponse].
public final class ServerResponse implements Response {
    private final Exchange exchange;
    private final int generation;

    /// Whether it was made to send an error response.
    private final boolean forError;

    ServerResponse(Exchange exchange) {
        this.exchange = exchange;
        generation = exchange.generation();
        forError = exchange.state() == ExchangeState.FAILING;
    }

    /// Returns whether an error response replaces what its handler would send.
    boolean isReplaced() {
        return !forError && exchange.state() == ExchangeState.FAILING;
    }

    /// @throws IllegalStateException if an error response replaces it
    void requireNotReplaced() {
        if (isReplaced()) {
            throw new IllegalStateException(
                    "an error response is sent instead: the handler has failed or exceeded the"
                            + " timeout of its route");
        }
    }

    /// Whether it belongs to the request that the exchange serves now.
    boolean isOf(Exchange other) {
        return exchange == other && other.generation() == generation;
    }

    /// @param method the method that was called, for the message
    /// @throws IllegalStateException if the exchange has ended
    private ResponseState state(String method) {
        exchange.requireOnLoop(generation, method);
        return exchange.response;
    }

    /// Requires also that this may still change or send the response.
    private ResponseState open(String method) {
        ResponseState state = state(method);
        requireNotReplaced();
        return state;
    }

    // ------------------------------------------------------------------ the head

    @Override
    public Response status(int status) {
        HeaderLines.requireStatus(status);
        open("Response.status").status(status);
        return this;
    }

    @Override
    public int status() {
        return state("Response.status").status();
    }

    @Override
    public Response header(String name, String value) {
        open("Response.header").header(name, value);
        return this;
    }

    @Override
    public Response addHeader(String name, String value) {
        open("Response.addHeader").addHeader(name, value);
        return this;
    }

    @Override
    public @Nullable String header(String name) {
        return state("Response.header").header(name);
    }

    /// Compresses the body if that saves enough.
    void encode(GzipEncoding encoding) {
        open("Response.header").encode(encoding);
    }

    // ------------------------------------------------------------------ whole responses

    @Override
    public Promise<?> send() {
        return open("Response.send").send(HeaderLines.EMPTY, null, HeaderLines.EMPTY);
    }

    @Override
    public Promise<?> send(byte[] content) {
        return open("Response.send").send(HeaderLines.OCTET_STREAM, null, content);
    }

    @Override
    public Promise<?> send(Buffer content) {
        return open("Response.send").send(HeaderLines.OCTET_STREAM, content);
    }

    @Override
    public Promise<?> text(String content) {
        return open("Response.text").send(HeaderLines.TEXT, content, HeaderLines.EMPTY);
    }

    @Override
    public Promise<?> html(String content) {
        return open("Response.html").send(HeaderLines.HTML, content, HeaderLines.EMPTY);
    }

    @Override
    public Promise<?> json(@Nullable Object value) {
        ResponseState state = open("Response.json");
        return state.send(
                HeaderLines.JSON, null, exchange.context.server.jsonMapper().write(value));
    }

    @Override
    public Promise<?> redirect(int status, String location) {
        HeaderLines.requireRedirection(status);
        return status(status).header("Location", PercentEncoding.address(location)).send();
    }

    @Override
    public Promise<?> sendFile(Path file) {
        ResponseState _ = open("Response.sendFile");
        return exchange.context.server.staticFiles.send(exchange, this, file);
    }

    // ------------------------------------------------------------------ streamed responses

    @Override
    public ResponseStream stream() {
        return open("Response.stream").begin(HeaderLines.OCTET_STREAM);
    }

    @Override
    public EventStream events() {
        return open("Response.events").events(stream -> stream);
    }

    // ------------------------------------------------------------------ afterwards

    @Override
    public boolean isCommitted() {
        return state("Response.isCommitted").isCommitted();
    }

    @Override
    public Response onComplete(Runnable callback) {
        state("Response.onComplete").onComplete(callback);
        return this;
    }

    @Override
    public boolean isTruncated() {
        return state("Response.isTruncated").isTruncated();
    }

    @Override
    public long bodyBytes() {
        return state("Response.bodyBytes").bodyBytes();
    }
}
