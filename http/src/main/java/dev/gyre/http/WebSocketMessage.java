package dev.gyre.http;

import dev.gyre.http.internal.websocket.EncodedMessage;

/// A message that is encoded once and sent to many sockets: [WebSocket#send(WebSocketMessage)].
/// Immutable.
///
/// ```java
/// var price = WebSocketMessage.text("42.17");
/// for (WebSocket socket : subscribers) {
///     socket.send(price);
/// }
/// ```
///
/// The first socket with compression compresses it for all.
///
/// **Threads.** Any.
public sealed interface WebSocketMessage permits EncodedMessage {
    /// Encodes a text message.
    static WebSocketMessage text(String text) {
        return EncodedMessage.of(text);
    }

    /// Encodes a binary message. Copies the bytes.
    static WebSocketMessage binary(byte[] payload) {
        return EncodedMessage.of(payload);
    }

    /// Returns whether this is a text message.
    boolean isText();

    /// Returns the length of the payload in bytes, before compression.
    int length();
}
