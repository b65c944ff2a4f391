package dev.gyre.http;

import java.nio.charset.StandardCharsets;

/// A message that is encoded once, and sent to many: [WebSocket#send(WebSocketMessage)]. Immutable, for any thread.
///
/// Compressed as well the first time that a socket asks for that, and then for all.
public final class WebSocketMessage {
    private final boolean text;
    private final byte[] content;

    private WebSocketMessage(boolean text, byte[] content) {
        this.text = text;
        this.content = content;
    }

    /// A message of text.
    public static WebSocketMessage text(String text) {
        return new WebSocketMessage(true, text.getBytes(StandardCharsets.UTF_8));
    }

    /// A binary message.
    public static WebSocketMessage binary(byte[] content) {
        return new WebSocketMessage(false, content.clone());
    }

    /// Whether it is one of text.
    public boolean isText() {
        return text;
    }

    /// How many bytes its content has.
    public int length() {
        return content.length;
    }
}
