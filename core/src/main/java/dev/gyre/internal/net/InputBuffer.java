package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

/// Input that was received and not consumed yet. It grows up to the input limit.
///
/// A view that `read()` resolved with stays valid until the next `read()`. Until then its memory
/// may not move, so later input is appended to a second buffer.
///
/// Loop thread only.
final class InputBuffer {
    /// The first buffer has this capacity; it doubles from there.
    private static final int MIN_BYTES = 4 << 10;

    private static final String OURS =
            "the stream again: it is valid in the callback that it was handed to, and no longer";

    private final Connection connection;

    /// Never empty, except while a view of it is handed out.
    private @Nullable NativeBuffer unread;

    /// The view of `unread` that `read()` resolved with.
    private @Nullable NativeBuffer handedOut;

    /// Input received while a view was handed out.
    private @Nullable NativeBuffer late;

    InputBuffer(Connection connection) {
        this.connection = connection;
    }

    boolean isEmpty() {
        return unread == null && handedOut == null && late == null;
    }

    int readable() {
        return unread == null ? 0 : unread.readable();
    }

    @Nullable NativeBuffer unread() {
        return unread;
    }

    // ------------------------------------------------------------------ adding

    /// Copies all of `data`. Closes the stream if there is no memory for it.
    void append(NativeBuffer data) {
        NativeBuffer grown = appended(handedOut != null ? late : unread, data);
        if (grown == null) {
            data.clear();
            connection.closeWith(CloseReason.MEMORY_LIMIT, connection.memoryUsedUp());
        } else if (handedOut != null) {
            late = grown;
        } else {
            unread = grown;
        }
    }

    private @Nullable NativeBuffer appended(@Nullable NativeBuffer kept, NativeBuffer data) {
        int more = data.readable();
        NativeBuffer room = kept;
        if (kept == null) {
            room = connection.pool().acquire(Math.max(more, MIN_BYTES));
        } else if (kept.writable() < more) {
            int all = kept.readable() + more;
            int doubled = Math.min(kept.capacity() * 2, connection.config().inputLimit());
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

    // ------------------------------------------------------------------ lending to a callback

    /// Takes back the view of `kept` that a callback has read from.
    @SuppressWarnings("ReferenceEquality") // a buffer is only itself
    void endLending(NativeBuffer kept, NativeBuffer view) {
        kept.endView(view, OURS);
        if (unread != kept) {
            kept.release(); // The stream was closed by the callback.
        } else if (kept.readable() == 0) {
            unread = null;
            kept.release();
        }
    }

    /// Takes back the view that the last callback has read from, and drops the rest.
    ///
    /// @param kept null if there was no unread input
    void endLastLending(@Nullable NativeBuffer kept, NativeBuffer view) {
        view.endBorrowing(OURS);
        if (kept != null) {
            unread = null;
            kept.release();
        }
    }

    // ------------------------------------------------------------------ handing out

    /// Returns a view of `kept`, which is all unread input. Valid until [#takeBack].
    NativeBuffer handOut(NativeBuffer kept) {
        NativeBuffer view = kept.lendView();
        handedOut = view;
        return view;
    }

    void takeBack() {
        NativeBuffer rest = unread;
        NativeBuffer view = handedOut;
        handedOut = null;
        if (view != null && rest != null) {
            rest.endView(view, OURS);
        }
        if (rest != null && rest.readable() == 0) {
            rest.release();
            unread = null;
        }
        NativeBuffer since = late;
        late = null;
        if (since != null) {
            if (unread == null) {
                unread = since;
            } else {
                append(since);
                since.release();
            }
        }
    }

    // ------------------------------------------------------------------ releasing

    /// Passes the buffer on to the caller.
    @Nullable NativeBuffer detach() {
        takeBack();
        NativeBuffer detached = unread;
        unread = null;
        return detached;
    }

    /// Drops everything.
    ///
    /// @param lent whether a callback reads from `unread`, which is then released after it
    void clear(boolean lent) {
        if (handedOut != null) {
            handedOut.endBorrowing(OURS);
            handedOut = null;
        }
        if (unread != null && !lent) {
            unread.release();
        }
        if (late != null) {
            late.release();
        }
        unread = null;
        late = null;
    }
}
