package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.internal.memory.HeapShare;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// What all connections of a server share: one exchange that is used again as long as requests are answered at once, and one
/// piece of memory in which answers are put together before they are written to their stream.
///
/// Loop thread only.
final class Workbench {
    private static final int OUT_BYTES = 64 << 10;

    final EventLoop loop;
    final HttpConfig config;
    final LoopServer server;
    final OnLoop onLoop;
    final Preamble preamble;
    final HeapShare heap;
    final LoopMemory memory;
    final UnreadInput unread;
    final OnceALoop outputLimit = new OnceALoop();
    final OnceALoop leftOpen = new OnceALoop();

    /// What an answer returns: nothing has to be waited for.
    final Promise<?> done;

    private final Buffer out = Buffer.allocate(OUT_BYTES);
    private @Nullable HttpConnection owner;
    private @Nullable Exchange spare;

    Workbench(LoopServer server, EventLoop loop, HttpConfig config) {
        this.server = server;
        this.loop = loop;
        onLoop = new OnLoop(loop);
        this.config = config;
        preamble = new Preamble(loop, config);
        heap = HeapShare.of(loop);
        memory = new LoopMemory(loop, heap);
        unread = new UnreadInput(loop.config().bufferMemory() / 2);
        done = Promise.resolved(loop, "answered");
    }

    // ------------------------------------------------------------------ exchanges

    /// The exchange for the next request.
    Exchange spare() {
        Exchange known = spare;
        if (known == null) {
            known =
                    new Exchange(
                            this,
                            new RequestHead(
                                    config.maxTarget(), config.maxHead(), config.maxFields()));
            spare = known;
        }
        return known;
    }

    /// The request is not answered at once: its exchange is its own from now on, and never another one's, so that a
    /// handler which keeps it too long meets nobody else there.
    void give(Exchange exchange) {
        assert spare == exchange : "only the spare one is given away";
        spare = null;
    }

    // ------------------------------------------------------------------ output

    /// Memory for the next bytes of a connection, with at least so much room.
    ///
    /// @param room at most half of what there is
    Buffer out(HttpConnection connection, int room) {
        assert room <= OUT_BYTES / 2 : "write that to the stream itself: " + room;
        if (owner != connection || out.writable() < room) {
            flush();
            owner = connection;
        }
        return out;
    }

    /// Writes what was put together to the stream it is for.
    void flush() {
        HttpConnection known = owner;
        owner = null;
        if (known != null && out.readable() > 0) {
            known.out.write(out);
        }
        out.clear();
    }
}
