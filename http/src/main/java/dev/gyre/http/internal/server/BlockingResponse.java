package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.EventStream;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/// The response as a blocking handler holds it.
///
/// Status and headers stay here, with the handler's thread, until the response is sent. Sending is
/// one task for the loop, and the thread does not wait for it. A response is discarded if its
/// client is gone, or if the server has sent an error instead.
///
/// The handler's thread, or threads that it has started, one at a time. Callbacks on the loop
/// thread use the exchange itself.
public final class BlockingResponse implements Response {
    private final Exchange exchange;
    private final BlockingCall call;
    private final EventLoop loop;
    private final LoopInvoker invoker;
    private final ServerResponse loopSide;

    // The handler's thread, until the response is committed.
    private final ResponseHeadWriter head;
    private boolean committed;
    private @Nullable BlockingResponseStream stream;

    /// Loop thread.
    BlockingResponse(Exchange exchange, BlockingCall call) {
        this.exchange = exchange;
        this.call = call;
        loop = exchange.context.loop;
        invoker = exchange.context.onLoop;
        loopSide = new ServerResponse(exchange);
        head = exchange.response.copyHead();
    }

    /// Returns whether this is the loop thread. The exchange then has what the handler has set.
    private boolean isOnLoop() {
        if (!loop.isLoopThread()) {
            call.requireRunning(exchange.generation());
            return false;
        }
        if (!committed) {
            boolean _ = exchange.response.adopt(head);
        }
        return true;
    }

    private ResponseHeadWriter open() {
        requireUncommitted();
        return head;
    }

    private void requireUncommitted() {
        if (committed) {
            throw new IllegalStateException(
                    "the response is already sent, with status " + head.status());
        }
    }

    /// Called when the handler has returned. Sends the rest of a stream.
    void handlerReturned() {
        BlockingResponseStream known = stream;
        if (known != null) {
            known.handlerReturned();
        }
    }

    /// Called when the thread is done. Releases the memory of a stream that was not ended. Loop
    /// thread.
    void release() {
        BlockingResponseStream known = stream;
        if (known != null) {
            known.release();
        }
    }

    // ------------------------------------------------------------------ the head

    @Override
    public Response status(int status) {
        HeaderLines.requireStatus(status);
        if (isOnLoop()) {
            loopSide.status(status);
        } else {
            open().status(status);
        }
        return this;
    }

    @Override
    public int status() {
        return isOnLoop() ? loopSide.status() : head.status();
    }

    @Override
    public Response header(String name, String value) {
        if (isOnLoop()) {
            loopSide.header(name, value);
        } else {
            open().set(name, value);
        }
        return this;
    }

    @Override
    public Response addHeader(String name, String value) {
        if (isOnLoop()) {
            loopSide.addHeader(name, value);
        } else {
            open().add(name, value);
        }
        return this;
    }

    @Override
    public @Nullable String header(String name) {
        if (isOnLoop()) {
            return loopSide.header(name);
        }
        // Once committed, the head belongs to the loop.
        return committed ? invoker.call(() -> head.get(name)) : head.get(name);
    }

    // ------------------------------------------------------------------ whole responses

    @Override
    public Promise<?> send() {
        return isOnLoop() ? loopSide.send() : send(HeaderLines.EMPTY, null, HeaderLines.EMPTY);
    }

    @Override
    public Promise<?> send(byte[] content) {
        if (isOnLoop()) {
            return loopSide.send(content);
        }
        // The handler may change a short array as soon as this returns.
        boolean copied = content.length <= LargeBodyWriter.MIN_BYTES;
        return send(HeaderLines.OCTET_STREAM, null, copied ? content.clone() : content);
    }

    @Override
    public Promise<?> send(Buffer content) {
        return isOnLoop()
                ? loopSide.send(content)
                : send(HeaderLines.OCTET_STREAM, null, content.getBytes());
    }

    @Override
    public Promise<?> text(String content) {
        return isOnLoop() ? loopSide.text(content) : send(HeaderLines.TEXT, content);
    }

    @Override
    public Promise<?> html(String content) {
        return isOnLoop() ? loopSide.html(content) : send(HeaderLines.HTML, content);
    }

    @Override
    public Promise<?> json(@Nullable Object value) {
        return isOnLoop()
                ? loopSide.json(value)
                : send(HeaderLines.JSON, null, exchange.context.server.jsonMapper().write(value));
    }

    @Override
    public Promise<?> redirect(int status, String location) {
        HeaderLines.requireRedirection(status);
        return status(status).header("Location", PercentEncoding.address(location)).send();
    }

    private Promise<?> send(byte[] type, String text) {
        return text.length() <= HeaderLines.SHORT_BYTES
                ? send(type, text, HeaderLines.EMPTY)
                : send(type, null, text.getBytes(UTF_8));
    }

    private Promise<?> send(byte[] type, @Nullable String text, byte[] bytes) {
        HeaderLines.requireAtOnce(bytes.length);
        commit();
        call.submit(() -> ifAdopted(state -> state.send(type, text, bytes)));
        return exchange.context.done;
    }

    /// Lets only the loop change the head from now on.
    private void commit() {
        requireUncommitted();
        long _ = head.length(); // Throws here if it is no length.
        committed = true;
    }

    private void ifAdopted(Consumer<ResponseState> action) {
        if (exchange.response.adopt(head)) {
            action.accept(exchange.response);
        }
    }

    @Override
    public Promise<?> sendFile(Path file) {
        if (isOnLoop()) {
            return loopSide.sendFile(file);
        }
        requireUncommitted();
        CompletableFuture<Promise<?>> begun = new CompletableFuture<>();
        boolean _ = invoker.call(() -> beginFile(file, begun));
        Promise<?> done = invoker.await(begun, () -> true);
        committed = true; // Not if it failed: the handler may respond otherwise.
        return done;
    }

    private boolean beginFile(Path file, CompletableFuture<Promise<?>> begun) {
        Promise<?> done = exchange.context.done;
        if (!exchange.response.adopt(head)) {
            return begun.complete(done);
        }
        Promise<?> _ =
                loopSide.sendFile(file)
                        .then(_ -> begun.complete(done), begun::completeExceptionally);
        return true;
    }

    // ------------------------------------------------------------------ streamed responses

    @Override
    public ResponseStream stream() {
        if (isOnLoop()) {
            return loopSide.stream();
        }
        commit();
        BlockingResponseStream made =
                new BlockingResponseStream(exchange, call, head.length(), this::beginStream, false);
        stream = made;
        return made;
    }

    /// Loop thread.
    private ServerResponseStream beginStream() {
        return exchange.response.adopt(head)
                ? exchange.response.begin(HeaderLines.OCTET_STREAM)
                : ServerResponseStream.closed(exchange.response, call.connection);
    }

    @Override
    public EventStream events() {
        if (isOnLoop()) {
            return loopSide.events();
        }
        commit();
        return invoker.call(
                () -> {
                    boolean _ = exchange.response.adopt(head);
                    loopSide.requireNotReplaced();
                    return exchange.response.events(this::eventOutput);
                });
    }

    private ResponseStream eventOutput(ServerResponseStream begun) {
        BlockingResponseStream made =
                new BlockingResponseStream(exchange, call, -1, () -> begun, true);
        stream = made;
        return made;
    }

    // ------------------------------------------------------------------ afterwards

    @Override
    public boolean isCommitted() {
        return isOnLoop()
                ? loopSide.isCommitted()
                : committed || invoker.call(exchange.response::isCommitted);
    }

    @Override
    public Response onComplete(Runnable callback) {
        if (isOnLoop()) {
            loopSide.onComplete(callback);
        } else {
            call.submit(() -> exchange.response.onComplete(callback));
        }
        return this;
    }

    @Override
    public boolean isTruncated() {
        return isOnLoop() ? loopSide.isTruncated() : invoker.call(exchange.response::isTruncated);
    }

    @Override
    public long bodyBytes() {
        return isOnLoop() ? loopSide.bodyBytes() : invoker.call(exchange.response::bodyBytes);
    }
}
