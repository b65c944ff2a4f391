package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.EventStream;
import dev.gyre.http.JsonMapper;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.ServerSentEvent;
import dev.gyre.http.internal.body.EventFormat;
import dev.gyre.http.internal.message.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Server-sent events over a streamed body.
final class ServerEventStream implements EventStream {
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);

    private final ServerResponseStream stream;

    /// The stream that events are written to: [#stream], or that of a blocking handler.
    private final ResponseStream out;

    private final EventLoop loop;
    private final JsonMapper mapper;
    private final Deferred<@Nullable Void> closed;
    private final @Nullable String lastEventId;

    // Loop thread only.
    private @Nullable Timer comments;
    private int writesBefore;

    /// Loop thread.
    ServerEventStream(
            ServerResponseStream stream,
            ResponseStream out,
            EventLoop loop,
            JsonMapper mapper,
            @Nullable String lastEventId) {
        this.stream = stream;
        this.out = out;
        this.loop = loop;
        this.mapper = mapper;
        this.lastEventId = lastEventId;
        closed = loop.deferred();
        startComments(KEEP_ALIVE);
        ResponseStream _ =
                stream.onClose(
                        () -> {
                            stopComments();
                            closed.resolve(null);
                        });
        if (stream.isWriting()) {
            stream.connection().isEventStream(stream);
        }
    }

    private void startComments(Duration interval) {
        stopComments();
        writesBefore = stream.writes();
        if (!interval.isZero() && !closed.promise().isSettled()) {
            comments = loop.every(interval, _ -> comment()).unreference();
        }
    }

    private void stopComments() {
        Timer known = comments;
        if (known != null) {
            comments = null;
            known.cancel();
        }
    }

    private void comment() {
        if (stream.writes() == writesBefore && !isEventPending()) {
            boolean _ = stream.write(EventFormat.COMMENT);
        }
        writesBefore = stream.writes();
    }

    /// Returns whether a blocking handler has sent a part of an event. A comment would split it.
    private boolean isEventPending() {
        return out instanceof BlockingResponseStream blocking && blocking.isWritePending();
    }

    @Override
    public boolean send(String data) {
        return send(ServerSentEvent.of(data));
    }

    @Override
    public boolean send(ServerSentEvent event) {
        return out.write(EventFormat.format(event));
    }

    @Override
    public boolean sendJson(String type, @Nullable Object value) {
        String data = new String(mapper.write(value), UTF_8);
        return send(ServerSentEvent.of(data).withType(type));
    }

    @Override
    public EventStream retry(Duration time) {
        boolean _ = out.write(EventFormat.retry(time));
        return this;
    }

    @Override
    public EventStream keepAlive(Duration interval) {
        Durations.requireNotNegative("keepAlive", interval);
        boolean _ = out.isOpen(); // Checks the thread and the lifetime.
        if (loop.isLoopThread()) {
            startComments(interval);
        } else {
            loop.submitPriority(() -> startComments(interval));
        }
        return this;
    }

    @Override
    public @Nullable String lastEventId() {
        boolean _ = out.isOpen();
        return lastEventId;
    }

    @Override
    public EventStream onClose(Runnable callback) {
        ResponseStream _ = out.onClose(callback);
        return this;
    }

    @Override
    public Promise<?> closed() {
        boolean _ = out.isOpen();
        return closed.promise();
    }

    @Override
    public void close() {
        Promise<?> _ = out.end();
    }

    @Override
    public boolean isOpen() {
        return out.isOpen();
    }
}
