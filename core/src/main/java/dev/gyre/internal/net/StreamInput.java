package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// Delivers the input of a stream to its protocol or to `read()`. Bytes are delivered from the
/// buffer that the kernel filled. Only unread input, and input that may not be delivered yet, is
/// copied.
///
/// Loop thread only.
final class StreamInput {
    private final Connection connection;
    private final InputBuffer buffer;
    private @Nullable Protocol protocol;

    /// The pending `read()`, and how many bytes it requires.
    private @Nullable Deferred<Buffer> pendingRead;

    private int minReadable;

    private boolean paused;
    private boolean ended;
    private boolean endDelivered;
    private boolean deliveringEnd;
    private @Nullable NativeBuffer unreadAtEnd;
    private boolean delivering;
    private boolean deliveryScheduled;

    /// Whether some unread input was never offered to the protocol or to `read()`.
    private boolean undelivered;

    /// Whether input is dropped. It is read only to see the peer's end.
    private boolean discarding;

    private long received;

    /// The pending promise of [#delivered()]; null if none.
    private @Nullable Deferred<@Nullable Void> barrier;

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

    /// Describes for operators what the connection is doing. Any thread: reads without
    /// synchronization, and never throws.
    String activity() {
        if (connection.isSecured() && connection.session() == null) {
            return "TLS handshake";
        }
        Protocol current = protocol;
        try {
            return current == null
                    ? ""
                    : Objects.requireNonNull(current.describe(connection.stream));
        } catch (Throwable e) {
            return ""; // Of a describe() that violates its contract.
        }
    }

    void setProtocol(Protocol next) {
        requireNoPendingRead();
        buffer.reclaimView();
        protocol = next;
        undelivered = !buffer.isEmpty();
        resumeDelivery();
    }

    /// Replaces the protocol. The new one receives `onEnd` even if the old one did.
    @SuppressWarnings("ReferenceEquality") // compares identity
    void replaceProtocol(Protocol next) {
        endDelivered &= next == protocol;
        setProtocol(next);
    }

    void pause() {
        if (!paused) {
            connection.trace(Kind.PAUSED, "");
        }
        paused = true;
        connection.updateReading();
    }

    void resume() {
        if (paused) {
            connection.trace(Kind.RESUMED, "");
        }
        paused = false;
        resumeDelivery();
    }

    void resumeDelivery() {
        connection.updateReading();
        boolean hasInput = undelivered || (ended && !endDelivered);
        if (hasInput && !delivering && !isBlocked() && !deliveryScheduled) {
            deliveryScheduled = true;
            // Callbacks are never called inside a call of the user's.
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

    private boolean isBlocked() {
        return paused
                || protocol == null
                || discarding
                || connection.isDeliverySuspended()
                || connection.isUnderPressure();
    }

    boolean wantsMore() {
        if (ended) {
            return false;
        }
        // Not while input is undelivered: a protocol that pauses after every few messages would
        // buffer more each time.
        return discarding || (pendingRead != null ? !paused : !undelivered && !isBlocked());
    }

    void discard() {
        discarding = true;
        releaseUnread();
        connection.updateReading();
    }

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
                deliverUnread(); // The end arrived before the scheduled delivery.
            }
            deliverEnd();
        } else if (discarding) {
            connection.lifecycle.closeIfBothEnded();
        }
    }

    /// The peer's end is known before the input that precedes it is read.
    void endPending() {
        Protocol current = protocol;
        if (current == null || ended || !connection.isOpen()) {
            return;
        }
        try {
            current.onEndPending(connection.stream);
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
    }

    private void deliverEnd() {
        Protocol current = protocol;
        if (!ended || endDelivered || current == null || isBlocked() || !connection.isOpen()) {
            return;
        }
        endDelivered = true;
        deliveringEnd = true;
        NativeBuffer rest = buffer.unread();
        NativeBuffer view = rest == null ? NativeBuffer.empty() : rest.lendView();
        unreadAtEnd = view;
        try {
            current.onEnd(connection.stream);
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
                    "unread() is for onEnd: before that, unread input is delivered again with the"
                            + " next bytes");
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

    /// Delivers bytes to the protocol. If it installs another protocol, that one receives the rest.
    @SuppressWarnings("ReferenceEquality") // compares identity
    private void deliver(NativeBuffer data) {
        Protocol current;
        delivering = true;
        try {
            do {
                current = protocol;
                assert current != null : "delivered without a protocol";
                current.onData(connection.stream, data);
            } while (data.readable() > 0
                    && protocol != current
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
            connection.lifecycle.close(
                    CloseReason.INPUT_LIMIT,
                    new IllegalStateException(
                            buffer.readable()
                                    + " bytes are unread, above the limit of "
                                    + connection.config.inputLimit()
                                    + ": consume them, or raise StreamConfig.withInputLimit"));
        }
    }

    Promise<Buffer> read(int atLeast) {
        requireNoPendingRead();
        if (protocol != null) {
            throw new IllegalStateException(
                    "the stream has callbacks for its input: use either callbacks or read()");
        }
        if (atLeast < 1 || atLeast > connection.config.inputLimit()) {
            throw new IllegalArgumentException(
                    "atLeast must be from 1 to "
                            + connection.config.inputLimit()
                            + " (StreamConfig.withInputLimit), but is "
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

    boolean hasPendingRead() {
        return pendingRead != null;
    }

    void detachMemory() {
        buffer.detachMemory();
    }

    void attachMemory() {
        buffer.attachMemory();
    }

    void requireNoPendingRead() {
        if (pendingRead != null) {
            throw new IllegalStateException(
                    "another read() is pending: wait for it before the next one");
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
            waiting.reject(connection.lifecycle.closedException());
        }
    }

    @Nullable NativeBuffer detachUnread() {
        undelivered = false;
        return buffer.detach();
    }

    void close() {
        Deferred<Buffer> waiting = pendingRead;
        pendingRead = null;
        if (waiting != null) {
            settleUnreadable(waiting);
        }
        releaseUnread();
        rejectBarrier(connection.lifecycle.closedException());
    }

    /// See [dev.gyre.io.Stream#inputDelivered()].
    Promise<@Nullable Void> delivered() {
        Deferred<@Nullable Void> outcome = barrier;
        if (outcome != null) {
            return outcome.promise(); // The kernel has not been polled yet.
        }
        outcome = connection.loop().deferred();
        if (!connection.isOpen()) {
            outcome.reject(connection.lifecycle.closedException());
        } else if (ended) {
            outcome.resolve(null);
        } else {
            barrier = outcome;
            connection.transport().requestInputBarrier();
        }
        return outcome.promise();
    }

    /// All input that had arrived at [#delivered()] is delivered.
    void onBarrier() {
        Deferred<@Nullable Void> outcome = barrier;
        barrier = null;
        if (outcome != null) {
            outcome.resolve(null);
        }
    }

    void rejectBarrier(Throwable why) {
        if (barrier != null) {
            barrier.reject(why);
            barrier = null;
        }
    }

    private void releaseUnread() {
        buffer.clear(delivering || deliveringEnd);
        undelivered = false;
    }
}
