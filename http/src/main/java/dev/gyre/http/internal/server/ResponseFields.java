package dev.gyre.http.internal.server;

import dev.gyre.http.Response;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/// What is set of an answer before it is given: its status and its header fields.
///
/// Called on another thread than the loop's, by a blocking handler, everything is carried out on the loop.
abstract class ResponseFields implements Response {
    final Exchange exchange;
    final Workbench bench;
    final AnswerHead head = new AnswerHead();

    ResponseFields(Exchange exchange) {
        this.exchange = exchange;
        bench = exchange.bench;
    }

    /// @throws IllegalStateException if the answer was given, or the request is over for another reason than that the peer is gone
    abstract void requireOpen();

    boolean isElsewhere(String method) {
        return exchange.isElsewhere(method);
    }

    <T> T onLoop(Supplier<T> work) {
        return bench.onLoop.call(work);
    }

    // ------------------------------------------------------------------ for handlers

    @Override
    public Response status(int status) {
        Lines.requireStatus(status);
        if (isElsewhere("Response.status")) {
            return onLoop(() -> status(status));
        }
        requireOpen();
        head.status(status);
        return this;
    }

    @Override
    public int status() {
        boolean _ = isElsewhere("Response.status");
        return head.status();
    }

    @Override
    public Response header(String name, String value) {
        if (isElsewhere("Response.header")) {
            return onLoop(() -> header(name, value));
        }
        requireOpen();
        head.set(name, value);
        return this;
    }

    @Override
    public Response addHeader(String name, String value) {
        if (isElsewhere("Response.addHeader")) {
            return onLoop(() -> addHeader(name, value));
        }
        requireOpen();
        head.add(name, value);
        return this;
    }

    @Override
    public @Nullable String header(String name) {
        boolean _ = isElsewhere("Response.header");
        return head.get(name);
    }

    /// Adds a header field that stays when the handler fails, and an error is answered.
    void addLasting(String name, String value) {
        requireOpen();
        head.addLasting(name, value);
    }

    /// Sets a header field that stays when an error is answered.
    void setLasting(String name, String value) {
        requireOpen();
        head.setLasting(name, value);
    }

    boolean hasFields() {
        return head.hasFields();
    }

    /// Lines for the head that were made and checked before, at most 4 KiB.
    void prepare(byte[] lines) {
        requireOpen();
        head.prepare(lines);
    }
}
