package dev.gyre.io;

/// What speaks on a [Stream]: hears of everything that happens there, and can hand the stream over to another one.
///
/// ```java
/// final class Lines implements Protocol {
///     @Override public void onData(Stream stream, Buffer data) {
///         for (int end = data.indexOf((byte) '\n'); end >= 0; end = data.indexOf((byte) '\n')) {
///             handle(data.getText(end + 1, UTF_8));
///         }
///     }   // an unfinished line is left unread, and comes again with the rest of it
/// }
/// ```
///
/// Protocols stack: TLS is below every one of them, and [Stream#protocol] replaces one by another at any time, as when HTTP is
/// upgraded to WebSocket. The new one begins with what the old one left unread.
///
/// **Threads.** All methods are called on the loop thread, one at a time. One that throws costs the stream.
public interface Protocol {
    /// The stream is its own now, and can be written to.
    default void onOpen(Stream stream) {}

    /// Bytes have arrived. What is left unread stays, and comes again in front of what arrives next.
    ///
    /// @param data everything unread so far; valid until this returns
    void onData(Stream stream, Buffer data);

    /// The peer has ended its output, and everything was handed on.
    ///
    /// The stream ends its own output too, unless this is overridden.
    default void onEnd(Stream stream) {
        stream.end();
    }

    /// Called if the peer ends its output while the stream is not read. Unread input is still
    /// delivered, followed by [#onEnd]. Called at most once, and only while the stream is paused or
    /// under pressure. Lets a protocol cancel work for a peer that may have left.
    default void onEndPending(Stream stream) {}

    /// There is room again, after [Stream#write(Buffer)] said no.
    default void onWritable(Stream stream) {}

    /// A time has run out.
    ///
    /// @return whether the stream goes on, and the time begins anew; otherwise it is closed
    default boolean onTimeout(Stream stream, TimeoutKind timeout) {
        return false;
    }

    /// The stream is closed. Nothing comes after this.
    default void onClose(Stream stream, CloseReason reason) {}
}
