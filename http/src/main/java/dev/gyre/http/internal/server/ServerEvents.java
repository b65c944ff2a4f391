package dev.gyre.http.internal.server;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.EventStream;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Server-sent events over a stream of output.
///
/// Loop thread only.
final class ServerEvents implements EventStream {
    private static final Duration QUIET = Duration.ofSeconds(15);

    private final ServerStream stream;
    private final Deferred<@Nullable Void> closed;
    private final Timer comments;
    private final @Nullable String lastSeen;
    private boolean sentMeanwhile;

    ServerEvents(ServerStream stream, Exchange exchange) {
        this.stream = stream;
        closed = exchange.bench.loop.deferred();
        lastSeen = exchange.isLost() ? null : exchange.request.header("Last-Event-ID");
        comments = exchange.bench.loop.every(QUIET, _ -> comment()).unreference();
        stream.onClose(
                () -> {
                    comments.cancel();
                    closed.resolve(null);
                });
        if (stream.isOpen()) {
            exchange.connection().isEventStream(this);
        } else {
            comments.cancel();
            closed.resolve(null);
        }
    }

    private void comment() {
        if (!sentMeanwhile) {
            stream.write(":\n\n");
        }
        sentMeanwhile = false;
    }

    @Override
    public boolean send(String data) {
        return send(null, null, data);
    }

    @Override
    public boolean send(@Nullable String type, @Nullable String id, String data) {
        StringBuilder event = new StringBuilder(data.length() + 32);
        if (type != null) {
            event.append("event: ").append(requireLine("type", type)).append('\n');
        }
        if (id != null) {
            event.append("id: ").append(requireLine("id", id)).append('\n');
        }
        // What ends a line there ends one here: all three ways are the same to the peer.
        for (String line : data.split("\r\n|\r|\n", -1)) {
            event.append("data: ").append(line).append('\n');
        }
        sentMeanwhile = true;
        return stream.write(event.append('\n').toString());
    }

    private static String requireLine(String what, String text) {
        if (text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0 || text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the " + what + " of an event is one line");
        }
        return text;
    }

    @Override
    public @Nullable String lastSeen() {
        return lastSeen;
    }

    @Override
    public EventStream onClose(Runnable callback) {
        stream.onClose(callback);
        return this;
    }

    @Override
    public Promise<?> closed() {
        return closed.promise();
    }

    @Override
    public void close() {
        if (stream.isOpen()) {
            Promise<?> _ = stream.end();
        }
    }

    @Override
    public boolean isOpen() {
        return stream.isOpen();
    }
}
