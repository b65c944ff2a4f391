package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

/// Input that was received and not consumed. It grows up to the input limit.
///
/// A view that `read()` resolved with stays valid until the next `read()`. Until then its memory
/// may not move, so later input is appended to a second buffer.
///
/// Loop thread only.
final class InputBuffer {
    /// The first buffer has this capacity; it doubles from there.
    private static final int MIN_BYTES = 4 << 10;

    static final String OWNER =
            "the stream again: a buffer is valid only during the callback that received it";

    private final Connection connection;

    /// Never empty, except while a view of it is handed out.
    private @Nullable NativeBuffer unread;

    /// The view of `unread` that `read()` resolved with.
    private @Nullable NativeBuffer lentView;

    /// Input received while a view was handed out.
    private @Nullable NativeBuffer receivedSince;

    InputBuffer(Connection connection) {
        this.connection = connection;
    }

    boolean isEmpty() {
        return unread == null && lentView == null && receivedSince == null;
    }

    int readable() {
        return unread == null ? 0 : unread.readable();
    }

    @Nullable NativeBuffer unread() {
        return unread;
    }

    /// Copies all of `data`. Closes the stream if there is no memory for it.
    void append(NativeBuffer data) {
        NativeBuffer grown = append(lentView != null ? receivedSince : unread, data);
        if (grown == null) {
            data.clear();
            connection.lifecycle.close(
                    CloseReason.MEMORY_LIMIT, connection.streams.bufferMemoryExhausted());
        } else if (lentView != null) {
            receivedSince = grown;
        } else {
            unread = grown;
        }
    }

    private @Nullable NativeBuffer append(@Nullable NativeBuffer kept, NativeBuffer data) {
        int more = data.readable();
        NativeBuffer room = kept;
        if (kept == null) {
            room = connection.pool().acquire(Math.max(more, MIN_BYTES));
        } else if (kept.writable() < more) {
            int all = kept.readable() + more;
            int doubled = Math.min(kept.capacity() * 2, connection.config.inputLimit());
            kept.compact();
            if (kept.writable() < more) {
                // When memory is short, streams with much unread input are closed first.
                room =
                        connection.pool().isNearLimit()
                                ? null
                                : connection.pool().acquire(Math.max(all, doubled));
                if (room != null) {
                    room.transferFrom(kept, kept.readable());
                    kept.release();
                }
            }
        }
        if (room != null) {
            room.transferFrom(data, more);
        }
        return room;
    }

    @SuppressWarnings("ReferenceEquality") // compares identity
    void endLending(NativeBuffer kept, NativeBuffer view) {
        kept.endView(view, OWNER);
        if (unread != kept) {
            kept.release(); // The callback closed the stream.
        } else if (kept.readable() == 0) {
            unread = null;
            kept.release();
        }
    }

    /// Reclaims the view after the last callback, and drops unread input.
    ///
    /// @param kept null if there was no unread input
    void endLastLending(@Nullable NativeBuffer kept, NativeBuffer view) {
        view.endBorrowing(OWNER);
        if (kept != null) {
            unread = null;
            kept.release();
        }
    }

    /// Returns a view of `kept`, all unread input. Valid until [#reclaimView].
    NativeBuffer lendView(NativeBuffer kept) {
        NativeBuffer view = kept.lendView();
        lentView = view;
        return view;
    }

    void reclaimView() {
        NativeBuffer rest = unread;
        NativeBuffer view = lentView;
        lentView = null;
        if (view != null && rest != null) {
            rest.endView(view, OWNER);
        }
        if (rest != null && rest.readable() == 0) {
            rest.release();
            unread = null;
        }
        NativeBuffer since = receivedSince;
        receivedSince = null;
        if (since != null) {
            if (unread == null) {
                unread = since;
            } else {
                append(since);
                since.release();
            }
        }
    }

    @Nullable NativeBuffer detach() {
        reclaimView();
        NativeBuffer detached = unread;
        unread = null;
        return detached;
    }

    /// Copies unread input out of the loop's pool before a move. Ends the view of `read()`.
    void detachMemory() {
        NativeBuffer kept = detach();
        if (kept != null) {
            unread = StreamMove.copyOf(kept);
            kept.release();
        }
    }

    /// Copies unread input into the pool of another loop after a move.
    void attachMemory() {
        NativeBuffer copy = detach();
        if (copy != null) {
            append(copy);
        }
    }

    /// @param lent whether a callback is reading from `unread` and releases it afterwards
    void clear(boolean lent) {
        if (lentView != null) {
            lentView.endBorrowing(OWNER);
            lentView = null;
        }
        if (unread != null && !lent) {
            unread.release();
        }
        if (receivedSince != null) {
            receivedSince.release();
        }
        unread = null;
        receivedSince = null;
    }
}
