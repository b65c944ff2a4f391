package dev.gyre.http.internal.server;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.EventStream;
import dev.gyre.http.ResponseStream;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Server-sent events over a stream of output, which sees to threads.
final class ServerEvents implements EventStream {
    private static final Duration QUIET = Duration.ofSeconds(15);

    private final ServerStream stream;
    private final Deferred<@Nullable Void> closed;
    private final @Nullable String lastSeen;

    // Loop thread only.
    private int writesBefore;

    /// On the loop thread.
    ServerEvents(ServerStream stream, EventLoop loop, @Nullable String lastSeen) {
        this.stream = stream;
        this.lastSeen = lastSeen;
        closed = loop.deferred();
        Timer comments = loop.every(QUIET, _ -> comment()).unreference();
        ResponseStream _ =
                stream.onClose(
                        () -> {
                            comments.cancel();
                            closed.resolve(null);
                        });
        if (stream.isOpen()) {
            stream.connection().isEventStream(stream);
        }
    }

    private void comment() {
        if (stream.writes() == writesBefore) {
            boolean _ = stream.write(":\n\n");
        }
        writesBefore = stream.writes();
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
        ResponseStream _ = stream.onClose(callback);
        return this;
    }

    @Override
    public Promise<?> closed() {
        boolean _ = stream.isOpen(); // Whose thread it is, it knows.
        return closed.promise();
    }

    @Override
    public void close() {
        Promise<?> _ = stream.end();
    }

    @Override
    public boolean isOpen() {
        return stream.isOpen();
    }
}
