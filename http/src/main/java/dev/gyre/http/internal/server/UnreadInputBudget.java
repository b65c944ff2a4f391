package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.ParseError;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.WeakHashMap;

/// Limits input that stays unread in streams: partial heads, pipelined requests, and bodies that no
/// handler reads. All of it may use half of the loop's memory. At three quarters the loop accepts
/// no connections, so clients could shut out all others without ever getting a response.
///
/// Above the limit the connection that has held unread input longest gives it up. A request that
/// arrives in pieces holds it briefly, and one that is never completed holds it long, so newcomers
/// do not pay for it.
///
/// Each loop has one budget, which all servers of the loop share.
///
/// Loop thread only, except [#of(EventLoop)].
final class UnreadInputBudget {
    /// Streams keep unread input in buffers of this size, or four times that, and so on.
    private static final int MIN_BUFFER_BYTES = 4 << 10;

    /// Shared: by all threads, under its own lock. A budget refers only to connections with unread
    /// input, and a closed loop has none, so it can be collected.
    private static final Map<EventLoop, UnreadInputBudget> BY_LOOP =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final long limit;

    // Loop thread only.
    private final LinkedHashSet<Entry> oldestFirst = new LinkedHashSet<>();
    private long used;

    /// @param limit the max number of bytes of all connections
    private UnreadInputBudget(long limit) {
        this.limit = limit;
    }

    /// Returns the budget of a loop. Callable from any thread.
    static UnreadInputBudget of(EventLoop loop) {
        return BY_LOOP.computeIfAbsent(
                loop, key -> new UnreadInputBudget(key.config().bufferMemory() / 2));
    }

    /// The unread input of one connection.
    final class Entry {
        private final HttpConnection connection;
        private int bytes;
        private boolean givenUp;

        Entry(HttpConnection connection) {
            this.connection = connection;
        }

        /// Notes the number of unread bytes.
        void note(int unread) {
            if (unread == 0) {
                if (bytes > 0) {
                    remove();
                }
                return;
            }
            int size = MIN_BUFFER_BYTES;
            while (size < unread) {
                size <<= 2;
            }
            used += size - bytes;
            bytes = size;
            oldestFirst.add(this);
            while (used > limit) {
                Entry oldest = oldestFirst.getFirst();
                oldest.remove();
                oldest.giveUp();
            }
        }

        private void remove() {
            used -= bytes;
            bytes = 0;
            oldestFirst.remove(this);
        }

        /// Returns whether unread input must be dropped.
        boolean isEvicted() {
            return givenUp;
        }

        /// Rejects a partial head. Drops pipelined requests: the current response is the last one.
        /// Fails a body, now or when a handler reads it.
        private void giveUp() {
            Exchange open = connection.open;
            if (open == null) {
                connection.giveUp(ParseError.NO_MEMORY);
                return;
            }
            givenUp = true;
            connection.giveUpBody();
            RequestBody body = open.body();
            if (body != null && !body.isEnded()) {
                HttpException reason = new HttpException(503, ParseError.NO_MEMORY.reason());
                if (body.isBegun()) {
                    connection.failBody(reason);
                } else {
                    body.fail(reason);
                }
            }
            connection.resumeIfOpen();
        }
    }
}
