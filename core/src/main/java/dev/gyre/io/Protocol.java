package dev.gyre.io;

import dev.gyre.EventLoop;

/// Handles the events of a [Stream], and can pass the stream to another protocol.
///
/// ```java
/// final class Lines implements Protocol {
///     @Override public void onData(Stream stream, Buffer data) {
///         for (int end = data.indexOf((byte) '\n'); end >= 0; end = data.indexOf((byte) '\n')) {
///             handle(data.getText(end + 1, UTF_8));
///         }
///     }   // an incomplete line stays unread, and is delivered again with the rest
/// }
/// ```
///
/// Protocols stack. TLS is below every protocol. [Stream#protocol] replaces a protocol at any time,
/// for example when HTTP is upgraded to WebSocket. The new protocol starts with the unread input.
///
/// **Threads.** All methods but [#describe] are called on the loop thread. A method that throws
/// closes the stream.
public interface Protocol {
    /// Called when the protocol is set. The stream is writable.
    default void onOpen(Stream stream) {}

    /// Called when bytes arrive. Unread bytes stay, and are delivered again before the next bytes.
    ///
    /// @param data all unread bytes; valid until this method returns
    void onData(Stream stream, Buffer data);

    /// Called when the peer has ended its output and all of it was delivered.
    ///
    /// The default implementation ends the stream's output too.
    default void onEnd(Stream stream) {
        stream.end();
    }

    /// Called if the peer ends its output while the stream is not read. Unread input is still
    /// delivered, followed by [#onEnd]. Called at most once, and only while the stream is paused or
    /// under backpressure. Lets a protocol cancel work for a peer that may have left.
    default void onEndPending(Stream stream) {}

    /// Called when the stream is writable again after [Stream#write(Buffer)] returned false.
    default void onWritable(Stream stream) {}

    /// Called when a timeout expires.
    ///
    /// @return true to keep the stream open and restart the timeout; false to close the stream
    default boolean onTimeout(Stream stream, TimeoutKind timeout) {
        return false;
    }

    /// Called before the stream moves to another loop: see [Stream#moveTo]. A protocol with state
    /// of the current loop, such as timers, cancels it here and restores it in [#onMoved].
    ///
    /// @return false to refuse; after true, only `onMoved` or [#onClose] is called next
    default boolean beforeMove(Stream stream, EventLoop target) {
        return true;
    }

    /// Called when the stream has moved to another loop, on the thread of that loop and before
    /// other methods.
    default void onMoved(Stream stream) {}

    /// Describes for operators what the connection is doing, such as `GET /users/{id}`. Lists of
    /// connections and reports of stalled loops contain it.
    ///
    /// Any thread may call it, while the loop thread runs another method. It must read fields only,
    /// accept values that are out of date, and return soon.
    ///
    /// The default implementation returns the simple name of the class; empty for a lambda.
    default String describe(Stream stream) {
        return getClass().isHidden() ? "" : getClass().getSimpleName();
    }

    /// Called when the stream is closed. No other method is called afterwards.
    default void onClose(Stream stream, CloseReason reason) {}
}
