package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;

import org.jspecify.annotations.Nullable;

/// Delivers the input of a stream to its protocol or to `read()`. Bytes are delivered from the
/// buffer that the kernel filled. Only unread input, and input that may not be delivered yet, is
/// copied.
///
/// Loop thread only.
final class StreamInput {
    private final Connection connection;
    private final InputBuffer buffer;
    private @Nullable Protocol protocol;

    /// Who waits for bytes, and for how many.
    private @Nullable Deferred<Buffer> pendingRead;

    private int minReadable;

    private boolean paused;
    private boolean ended;
    private boolean endDelivered;
    private boolean deliveringEnd;
    private @Nullable NativeBuffer unreadAtEnd;
    private boolean delivering;
    private boolean deliveryScheduled;

    /// Whether something of what is unread was never offered to anybody.
    private boolean undelivered;

    /// Nobody will have it any more: it is read to see the peer's end, and dropped.
    private boolean discarding;

    private long received;

    StreamInput(Connection connection) {
        this.connection = connection;
        buffer = new InputBuffer(connection);
    }

    long received() {
        return received;
    }

    boolean hasEnded() {
        return ended;
    }

    /// Whether the peer's end has arrived and all input before it was delivered or is unwanted.
    boolean isFinished() {
        return ended && (discarding || (buffer.isEmpty() && (endDelivered || protocol == null)));
    }

    boolean isPaused() {
        return paused;
    }

    @Nullable Protocol protocol() {
        return protocol;
    }

    // ------------------------------------------------------------------ wanting

    void setProtocol(Protocol next) {
        requireNoPendingRead();
        buffer.reclaimView();
        protocol = next;
        undelivered = !buffer.isEmpty();
        resumeDelivery();
    }

    /// Replaces the protocol. A new one is notified of the end even if the previous one was.
    @SuppressWarnings("ReferenceEquality") // a protocol is only itself
    void replaceProtocol(Protocol next) {
        endDelivered &= next == protocol;
        setProtocol(next);
    }

    void pause() {
        paused = true;
        connection.updateReading();
    }

    void resume() {
        paused = false;
        resumeDelivery();
    }

    /// Something that kept input away has changed.
    void resumeDelivery() {
        connection.updateReading();
        if (!delivering && !isBlocked() && (undelivered || (ended && !endDelivered))) {
            scheduleDelivery();
        }
    }

    /// Callbacks are not called from inside a call of the user's.
    private void scheduleDelivery() {
        if (!deliveryScheduled) {
            deliveryScheduled = true;
            connection.loop().microtask(this::deliverScheduled);
        }
    }

    private void deliverScheduled() {
        deliveryScheduled = false;
        if (connection.isOpen() && !isBlocked()) {
            deliverUnread();
            deliverEnd();
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
        // Not while undelivered input waits: a protocol that pauses after every few messages
        // would buffer more each time.
        return discarding || (pendingRead != null ? !paused : !undelivered && !isBlocked());
    }

    void discard() {
        discarding = true;
        releaseUnread();
        connection.updateReading();
    }

    // ------------------------------------------------------------------ arriving

    void receive(NativeBuffer data) {
        received += data.readable();
        if (discarding) {
            data.clear();
            return;
        }
        if (isBlocked() || !buffer.isEmpty()) {
            undelivered = true;
            buffer.append(data);
            if (pendingRead != null) {
                completeRead();
            } else if (!isBlocked()) {
                deliverUnread();
            }
            return;
        }
        deliver(data);
        if (data.readable() > 0 && connection.isOpen() && !discarding) {
            undelivered = isBlocked();
            buffer.append(data);
            requireWithinLimit();
        }
    }

    void receiveEnd() {
        ended = true;
        if (pendingRead != null) {
            completeRead();
        } else if (!isBlocked()) {
            if (undelivered) {
                deliverUnread(); // Planned, but the end came sooner.
            }
            deliverEnd();
        } else if (discarding) {
            connection.lifecycle.closeIfBothEnded();
        }
    }

    /// The peer's end is known ahead of the input before it.
    void endPending() {
        Protocol speaking = protocol;
        if (speaking == null || ended || !connection.isOpen()) {
            return;
        }
        try {
            speaking.onEndPending(connection.stream);
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
    }

    private void deliverEnd() {
        Protocol speaking = protocol;
        if (!ended || endDelivered || speaking == null || isBlocked() || !connection.isOpen()) {
            return;
        }
        endDelivered = true;
        deliveringEnd = true;
        NativeBuffer rest = buffer.unread();
        NativeBuffer view = rest == null ? NativeBuffer.empty() : rest.lendView();
        unreadAtEnd = view;
        try {
            speaking.onEnd(connection.stream);
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        } finally {
            deliveringEnd = false;
            unreadAtEnd = null;
            buffer.endLastLending(rest, view);
        }
        connection.lifecycle.closeIfBothEnded();
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

    private void deliverUnread() {
        NativeBuffer kept = buffer.unread();
        undelivered = false;
        if (kept != null) {
            NativeBuffer view = kept.lendView();
            try {
                deliver(view);
            } finally {
                buffer.endLending(kept, view);
                undelivered = !buffer.isEmpty() && isBlocked();
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
                speaking.onData(connection.stream, data);
            } while (data.readable() > 0
                    && protocol != speaking
                    && !isBlocked()
                    && connection.isOpen());
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        } finally {
            delivering = false;
        }
    }

    private void requireWithinLimit() {
        if (!isBlocked() && buffer.readable() > connection.config.inputLimit()) {
            connection.closeWith(
                    CloseReason.INPUT_LIMIT,
                    new IllegalStateException(
                            buffer.readable()
                                    + " bytes were left unread, and at most "
                                    + connection.config.inputLimit()
                                    + " may be: take them, or raise StreamConfig.withInputLimit"));
        }
    }

    // ------------------------------------------------------------------ waiting

    Promise<Buffer> read(int atLeast) {
        requireNoPendingRead();
        if (protocol != null) {
            throw new IllegalStateException(
                    "the stream has callbacks, which get what arrives: read() without them");
        }
        if (atLeast < 1 || atLeast > connection.config.inputLimit()) {
            throw new IllegalArgumentException(
                    "from 1 to "
                            + connection.config.inputLimit()
                            + " bytes (StreamConfig.withInputLimit), not "
                            + atLeast);
        }
        Deferred<Buffer> waiting = connection.loop().deferred();
        buffer.reclaimView();
        if (!connection.isOpen()) {
            settleUnreadable(waiting);
            return waiting.promise();
        }
        pendingRead = waiting;
        minReadable = atLeast;
        completeRead();
        connection.updateReading();
        return waiting.promise();
    }

    void requireNoPendingRead() {
        if (pendingRead != null) {
            throw new IllegalStateException("another read() is waiting: one at a time");
        }
    }

    private void completeRead() {
        Deferred<Buffer> waiting = pendingRead;
        NativeBuffer kept = buffer.unread();
        if (waiting == null || (buffer.readable() < minReadable && !ended)) {
            return;
        }
        pendingRead = null;
        connection.updateReading();
        if (kept == null) {
            waiting.resolve(NativeBuffer.empty());
            connection.lifecycle.closeIfBothEnded();
        } else {
            waiting.resolve(buffer.lendView(kept));
        }
    }

    private void settleUnreadable(Deferred<Buffer> waiting) {
        if (ended) {
            waiting.resolve(NativeBuffer.empty());
        } else {
            waiting.reject(connection.closedException());
        }
    }

    // ------------------------------------------------------------------ releasing

    /// Gives up what nobody has taken yet, for TLS to begin with.
    @Nullable NativeBuffer detachUnread() {
        undelivered = false;
        return buffer.detach();
    }

    /// The stream is closed.
    void close() {
        Deferred<Buffer> waiting = pendingRead;
        pendingRead = null;
        if (waiting != null) {
            settleUnreadable(waiting);
        }
        releaseUnread();
    }

    private void releaseUnread() {
        buffer.clear(delivering || deliveringEnd);
        undelivered = false;
    }
}
