package dev.gyre.http;

import dev.gyre.http.internal.websocket.EncodedMessage;

/// A message that is encoded once, and sent to many: [WebSocket#send(WebSocketMessage)]. Immutable, for any thread.
///
/// ```java
/// var price = WebSocketMessage.text("42.17");
/// for (WebSocket socket : watching) {
///     socket.send(price);
/// }
/// ```
///
/// Compressed as well the first time that a socket asks for that, and then for all.
public sealed interface WebSocketMessage permits EncodedMessage {
    /// A message of text.
    static WebSocketMessage text(String text) {
        return EncodedMessage.of(text);
    }

    /// A binary message. The bytes are copied.
    static WebSocketMessage binary(byte[] content) {
        return EncodedMessage.of(content);
    }

    /// Whether it is one of text.
    boolean isText();

    /// How many bytes its content has.
    int length();
}
