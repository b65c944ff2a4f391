package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

/// Moves bytes from and to a peer: a socket, or TLS over another transport. Limits, timeouts and
/// user callbacks belong to the [Handler].
///
/// Output is pulled. The handler queues it and calls [#flush], and the transport reports how much
/// it has sent. A slow peer therefore fills the handler's queue, where the limits apply.
///
/// Loop thread only. No method calls the handler before it returns.
interface Transport {
    interface Handler {
        /// Bytes have arrived. The handler must consume all of them, as the memory is reused. May
        /// still be called shortly after `setReading(false)`.
        void onReceived(NativeBuffer data);

        void onInputEnded();

        /// The peer's end was noticed while no input was read. Earlier input may still be unread;
        /// [#onInputEnded()] follows it.
        default void onEndPending() {}

        /// This many bytes of the queue are sent. The handler calls [#flush] again for the rest.
        void onSent(long bytes);

        void onOutputEnded();

        /// The transport has failed. Only [#onReleased()] follows.
        ///
        /// @param cause details; null if the reason says all
        void onFailed(CloseReason reason, @Nullable Throwable cause);

        /// A part of the current batch is sent, before [#onSent] reports it. Tells a slow peer from
        /// a dead one. The handler may only record it.
        void onProgress();

        /// The peer is alive although no data arrived: a handshake is in progress.
        default void onActivity() {}

        /// All input that arrived before [#requestInputBarrier()] is delivered.
        default void onInputBarrier() {}

        /// The loop is shutting down and reads no more. Pending output may still be sent.
        void onShutdown();

        /// The transport has stopped, see [#isStopped()]. Called at least once.
        default void onStopped() {}

        /// After [#close]: no operation uses the queue.
        void onReleased();
    }

    void setHandler(Handler handler);

    void setReading(boolean wanted);

    /// Requests [Handler#onInputBarrier()] once all input that has arrived is delivered. Waits
    /// while reading is stopped.
    void requestInputBarrier();

    /// Sends output of the queue, now or in the next flush step.
    void flush(OutputQueue queue);

    /// Returns how many bytes of the queue are sent but not reported by [Handler#onSent] yet.
    default long partiallySent() {
        return 0;
    }

    /// Ends the output. Called once, when the queue is empty and no write is in flight.
    void endOutput();

    /// Whether the transport has stopped for a move to another loop: no operation is in flight, and
    /// none will start.
    boolean isStopped();

    /// Closes the transport.
    ///
    /// @param reset whether the peer must see that data is missing
    void close(boolean reset);
}
