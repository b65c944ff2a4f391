package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

/// Bytes from and to a peer, and nothing else: a socket, or TLS over another wire. What is done about
/// them, limits, times, callbacks of users, is the [Wire.User]'s.
///
/// Output is pulled: the user queues, and says [#flush]; the wire takes as much as it can carry, and tells how
/// much that was. So a slow peer fills the user's queue, where the limits are, and nothing in between.
///
/// Loop thread only. No method calls the user back before it returns.
interface Transport {
    /// Who hears of everything.
    interface Handler {
        /// Bytes have arrived. All of them are to be taken: the memory is used again after this. May still come
        /// shortly after `setReading(false)`.
        void onReceived(NativeBuffer data);

        /// The peer has ended its output.
        void onInputEnded();

        /// Called if the peer's end is noticed while nothing is read. Earlier input may still be
        /// unread; [#onInputEnded()] follows it.
        default void onEndPending() {}

        /// So many bytes of the queue are gone, and perhaps there is more to [#flush].
        void onSent(long bytes);

        /// The output is ended, as was asked for.
        void onOutputEnded();

        /// It is over: nothing comes after this but [#onReleased()].
        ///
        /// @param cause what there is to tell beside the reason
        void onFailed(CloseReason reason, @Nullable Throwable cause);

        /// A part of what is being sent is out, which [#onSent] tells of later: for telling a slow peer from a dead
        /// one. Comes in the middle of things, and is for taking a note only.
        void onProgress();

        /// The peer is there, though nothing has come of it for the user: a handshake goes on.
        default void onActivity() {}

        /// Nothing is left in the kernel of what has arrived: [Transport#catchUp()] asked for that.
        default void onInputBarrier() {}

        /// The loop is coming to its end, and reads nothing any more: what was written may still go out.
        void onShutdown();

        /// After `close`: nothing of the queue is in use any more.
        void onReleased();
    }

    /// Sets who hears of everything, from now on.
    void setHandler(Handler user);

    /// Begins to read, or stops. Asking for what is so already does nothing.
    void setReading(boolean wanted);

    /// Has all that has arrived by now told of, and then [User#onCaughtUp()]; while nothing is read, later.
    void requestInputBarrier();

    /// There is something in the queue: takes of it what can be carried, now or at the end of the turn.
    void flush(OutputQueue queue);

    /// How much of the queue is out already and was not told of yet: [User#onSent] comes when a whole batch is
    /// through.
    default long partiallySent() {
        return 0;
    }

    /// Ends the output: called once, when the queue is empty and nothing is under way.
    void endOutput();

    /// Lets go of everything at once.
    ///
    /// @param reset whether the peer shall see that something is missing
    void close(boolean reset);
}
