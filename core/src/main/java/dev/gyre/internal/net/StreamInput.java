package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;

import org.jspecify.annotations.Nullable;

/// What arrives on a stream, and who wants it. Bytes are handed on where the kernel has put them; only what is
/// left unread, or comes while nobody may have it, is copied, and kept until it is wanted.
///
/// Loop thread only.
final class StreamInput {
    /// A buffer for what is left over begins with this, and doubles.
    private static final int LEAST_BYTES = 4 << 10;

    private static final String OURS =
            "the stream again: it is valid in the callback that it was handed to, and no longer";

    private final Connection connection;
    private @Nullable Protocol protocol;

    /// What nobody has taken yet; never empty, unless it is in the hands of who waited for it.
    private @Nullable NativeBuffer unread;

    /// Who waits for bytes, and for how many.
    private @Nullable Deferred<Buffer> reader;

    private int readerWants;

    /// What of `unread` is in the hands of who waited for it, so that it may not be touched.
    private @Nullable NativeBuffer handedOut;

    /// What came while it was.
    private @Nullable NativeBuffer late;

    private boolean paused;
    private boolean ended;
    private boolean endTold;
    private boolean tellingEnd;
    private @Nullable NativeBuffer unreadAtEnd;
    private boolean delivering;
    private boolean deliveryPlanned;

    /// Whether something of what is unread was never offered to anybody.
    private boolean owed;

    /// Nobody will have it any more: it is read to see the peer's end, and dropped.
    private boolean discarding;

    private long received;

    StreamInput(Connection connection) {
        this.connection = connection;
    }

    long received() {
        return received;
    }

    boolean hasEnded() {
        return ended;
    }

    /// Whether the peer's end has arrived and all input before it was delivered or is unwanted.
    boolean isFinished() {
        boolean delivered = unread == null && handedOut == null && late == null;
        return ended && (discarding || (delivered && (endTold || protocol == null)));
    }

    boolean isPaused() {
        return paused;
    }

    @Nullable Protocol protocol() {
        return protocol;
    }

    // ------------------------------------------------------------------ wanting

    void speak(Protocol next) {
        requireNoReader();
        takeBackHandedOut();
        protocol = next;
        owed = unread != null;
        changed();
    }

    /// Another protocol takes the place of the one there is, and hears of an end as if nobody had before.
    @SuppressWarnings("ReferenceEquality") // a protocol is only itself
    void takeOver(Protocol next) {
        endTold &= next == protocol;
        speak(next);
    }

    void pause() {
        paused = true;
        connection.updateReading();
    }

    void resume() {
        paused = false;
        changed();
    }

    /// Something that kept input away has changed.
    void changed() {
        connection.updateReading();
        if (!delivering && !isBlocked() && (owed || (ended && !endTold))) {
            planDelivery();
        }
    }

    /// Callbacks are not called from inside a call of the user's.
    private void planDelivery() {
        if (!deliveryPlanned) {
            deliveryPlanned = true;
            connection.loop().microtask(this::deliverPlanned);
        }
    }

    private void deliverPlanned() {
        deliveryPlanned = false;
        if (connection.isOpen() && !isBlocked()) {
            deliverUnread();
            tellEnd();
        }
    }

    /// Whether bytes may not be handed on just now.
    private boolean isBlocked() {
        return paused
                || protocol == null
                || discarding
                || connection.isSecuring()
                || connection.isUnderPressure();
    }

    /// Whether the kernel is to be asked for more.
    boolean wantsMore() {
        if (ended) {
            return false;
        }
        // Behind what was never offered nothing is asked for: a protocol that pauses after every
        // few
        // messages would else collect more each time.
        return discarding || (reader != null ? !paused : !owed && !isBlocked());
    }

    void discard() {
        discarding = true;
        giveBack();
        connection.updateReading();
    }

    // ------------------------------------------------------------------ arriving

    void arrived(NativeBuffer data) {
        received += data.readable();
        if (discarding) {
            data.clear();
            return;
        }
        if (isBlocked() || unread != null || handedOut != null) {
            owed = true;
            keep(data);
            if (reader != null) {
                satisfyReader();
            } else if (!isBlocked()) {
                deliverUnread();
            }
            return;
        }
        deliver(data);
        if (data.readable() > 0 && connection.isOpen() && !discarding) {
            owed = isBlocked();
            keep(data);
            requireWithinLimit();
        }
    }

    void arrivedEnd() {
        ended = true;
        if (reader != null) {
            satisfyReader();
        } else if (!isBlocked()) {
            if (owed) {
                deliverUnread(); // Planned, but the end came sooner.
            }
            tellEnd();
        } else if (discarding) {
            connection.closeIfBothEnded();
        }
    }

    /// The peer's end is known ahead of the input before it.
    void endPending() {
        Protocol speaking = protocol;
        if (speaking == null || ended || !connection.isOpen()) {
            return;
        }
        try {
            speaking.onEndPending(connection.face());
        } catch (RuntimeException | Error e) {
            connection.failedIn(e);
            throw e;
        }
    }

    private void tellEnd() {
        Protocol speaking = protocol;
        if (!ended || endTold || speaking == null || isBlocked() || !connection.isOpen()) {
            return;
        }
        endTold = true;
        tellingEnd = true;
        NativeBuffer rest = unread;
        NativeBuffer view = rest == null ? NativeBuffer.empty() : rest.lendView();
        unreadAtEnd = view;
        try {
            speaking.onEnd(connection.face());
        } catch (RuntimeException | Error e) {
            connection.failedIn(e);
            throw e;
        } finally {
            tellingEnd = false;
            unreadAtEnd = null;
            view.endBorrowing(OURS);
            if (rest != null) {
                unread = null;
                rest.release();
            }
        }
        connection.closeIfBothEnded();
    }

    Buffer unreadAtEnd() {
        NativeBuffer rest = unreadAtEnd;
        if (rest == null) {
            throw new IllegalStateException(
                    "unread() is for the end of input: before that, what is unread comes again by"
                            + " itself");
        }
        return rest;
    }

    @SuppressWarnings("ReferenceEquality") // a buffer is only itself
    private void deliverUnread() {
        NativeBuffer kept = unread;
        owed = false;
        if (kept != null) {
            NativeBuffer view = kept.lendView();
            try {
                deliver(view);
            } finally {
                kept.adopt(view, OURS);
                if (unread != kept) {
                    kept.release(); // The stream was closed meanwhile.
                } else if (kept.readable() == 0) {
                    unread = null;
                    kept.release();
                }
                owed = unread != null && isBlocked();
            }
            requireWithinLimit();
        }
        connection.updateReading();
    }

    /// Hands bytes on, and to the next protocol if one has taken the place of the one that began.
    @SuppressWarnings("ReferenceEquality") // a protocol is only itself
    private void deliver(NativeBuffer data) {
        Protocol speaking;
        delivering = true;
        try {
            do {
                speaking = protocol;
                assert speaking != null : "delivered to nobody";
                speaking.onData(connection.face(), data);
            } while (data.readable() > 0
                    && protocol != speaking
                    && !isBlocked()
                    && connection.isOpen());
        } catch (RuntimeException | Error e) {
            connection.failedIn(e);
            throw e;
        } finally {
            delivering = false;
        }
    }

    private void requireWithinLimit() {
        NativeBuffer kept = unread;
        if (kept != null && !isBlocked() && kept.readable() > connection.config().inputLimit()) {
            connection.closeWith(
                    CloseReason.INPUT_LIMIT,
                    new IllegalStateException(
                            kept.readable()
                                    + " bytes were left unread, and at most "
                                    + connection.config().inputLimit()
                                    + " may be: take them, or raise StreamConfig.withInputLimit"));
        }
    }

    // ------------------------------------------------------------------ waiting

    Promise<Buffer> read(int atLeast) {
        requireNoReader();
        if (protocol != null) {
            throw new IllegalStateException(
                    "the stream has callbacks, which get what arrives: read() without them");
        }
        if (atLeast < 1 || atLeast > connection.config().inputLimit()) {
            throw new IllegalArgumentException(
                    "from 1 to "
                            + connection.config().inputLimit()
                            + " bytes (StreamConfig.withInputLimit), not "
                            + atLeast);
        }
        Deferred<Buffer> waiting = connection.loop().deferred();
        takeBackHandedOut();
        if (!connection.isOpen()) {
            rejectReader(waiting);
            return waiting.promise();
        }
        reader = waiting;
        readerWants = atLeast;
        satisfyReader();
        connection.updateReading();
        return waiting.promise();
    }

    void requireNoReader() {
        if (reader != null) {
            throw new IllegalStateException("another read() is waiting: one at a time");
        }
    }

    private void satisfyReader() {
        Deferred<Buffer> waiting = reader;
        NativeBuffer kept = unread;
        int there = kept == null ? 0 : kept.readable();
        if (waiting == null || (there < readerWants && !ended)) {
            return;
        }
        reader = null;
        connection.updateReading();
        if (kept == null) {
            waiting.resolve(NativeBuffer.empty());
            connection.closeIfBothEnded();
        } else {
            NativeBuffer view = kept.lendView();
            handedOut = view;
            waiting.resolve(view);
        }
    }

    private void takeBackHandedOut() {
        NativeBuffer rest = unread;
        NativeBuffer view = handedOut;
        handedOut = null;
        if (view != null && rest != null) {
            rest.adopt(view, OURS);
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
                keep(since);
                since.release();
            }
        }
    }

    private void rejectReader(Deferred<Buffer> waiting) {
        if (ended) {
            waiting.resolve(NativeBuffer.empty());
        } else {
            waiting.reject(connection.closedException());
        }
    }

    // ------------------------------------------------------------------ keeping

    private void keep(NativeBuffer data) {
        NativeBuffer kept = appended(handedOut != null ? late : unread, data);
        if (kept == null) {
            data.clear();
            connection.closeWith(CloseReason.MEMORY_LIMIT, connection.memoryUsedUp());
        } else if (handedOut != null) {
            late = kept;
        } else {
            unread = kept;
        }
    }

    private @Nullable NativeBuffer appended(@Nullable NativeBuffer kept, NativeBuffer data) {
        int more = data.readable();
        NativeBuffer room = kept;
        if (kept == null) {
            room = connection.pool().take(Math.max(more, LEAST_BYTES));
        } else if (kept.writable() < more) {
            int all = kept.readable() + more;
            int doubled = Math.min(kept.capacity() * 2, connection.config().inputLimit());
            kept.compact();
            if (kept.writable() < more) {
                // Who keeps much unread when memory is short is the first to go.
                room =
                        connection.pool().isTight()
                                ? null
                                : connection.pool().take(Math.max(all, doubled));
                if (room != null) {
                    room.takeFrom(kept, kept.readable());
                    kept.release();
                }
            }
        }
        if (room != null) {
            room.takeFrom(data, more);
        }
        return room;
    }

    /// Gives up what nobody has taken yet, for TLS to begin with.
    @Nullable NativeBuffer takeUnread() {
        takeBackHandedOut();
        owed = false;
        NativeBuffer taken = unread;
        unread = null;
        return taken;
    }

    /// The stream is closed.
    void close() {
        Deferred<Buffer> waiting = reader;
        reader = null;
        if (waiting != null) {
            rejectReader(waiting);
        }
        giveBack();
    }

    private void giveBack() {
        if (handedOut != null) {
            handedOut.endBorrowing(OURS);
            handedOut = null;
        }
        if (unread != null && !delivering && !tellingEnd) {
            unread.release();
        }
        if (late != null) {
            late.release();
        }
        unread = null; // If a callback is reading it just now, it goes back after that.
        late = null;
        owed = false;
    }
}
