package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.websocket.LoopSocket;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.URI;
import java.util.function.Consumer;

/// A WebSocket (RFC 6455): messages both ways, of a server's or a client's side.
///
/// ```java
/// server.webSocket("/chat", socket -> { room.add(socket); socket.onText(room::broadcast); });
///
/// WebSocket.connect(loop, URI.create("ws://localhost:8080/chat")).thenAccept(socket -> {
///     socket.onText(IO::println);
///     socket.send("hello");
/// });
/// ```
///
/// A message that there is no callback for is dropped. Pings are answered, fragments put together, text checked for
/// UTF-8, compressed messages inflated, and the closing handshake is carried out; who wants to know of pings and
/// pongs is told.
///
/// **Limits.** A message that arrives has at most [WebSocketConfig#maxMessage] bytes, inflated ones included: more
/// closes with 1009. From its first byte to its last it has [WebSocketConfig#messageTimeout]: longer closes with 1008.
/// What all sockets of a loop hold of messages that are not whole is a share of the heap: more closes with 1013, try
/// again later. What is sent and not taken is under [WebSocketConfig#whenSlow].
///
/// **Failure.** A peer that breaks the protocol is closed with 1002, one whose text is none or whose compressed message
/// is not whole with 1007; a callback that throws costs its own socket only, with 1011.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop.
public sealed interface WebSocket permits LoopSocket {
    /// Connects with the usual settings.
    static Promise<WebSocket> connect(EventLoop loop, URI uri) {
        return connect(loop, uri, WebSocketConfig.DEFAULT);
    }

    /// Connects to `ws:` or `wss:`. Rejected with what [dev.gyre.io.Stream#connect] is rejected with, or a
    /// [java.net.ProtocolException] that says what the peer answered instead of the upgrade.
    ///
    /// @throws IllegalArgumentException if the URI is none of a WebSocket
    static Promise<WebSocket> connect(EventLoop loop, URI uri, WebSocketConfig config) {
        return LoopSocket.connect(loop, uri, config);
    }

    // ------------------------------------------------------------------ receiving

    /// Calls back for each message of text. Replaces an earlier callback.
    ///
    /// @return this socket
    WebSocket onText(Consumer<? super String> callback);

    /// Calls back for each binary message. The buffer is valid until the callback returns. Replaces an earlier callback.
    ///
    /// @return this socket
    WebSocket onBinary(Consumer<? super Buffer> callback);

    /// Calls back for each ping, which has been answered, with what it carries. Valid until the callback returns. Replaces
    /// an earlier callback.
    ///
    /// @return this socket
    WebSocket onPing(Consumer<? super Buffer> callback);

    /// Calls back for each pong, with what it carries. Valid until the callback returns. Replaces an earlier callback.
    ///
    /// @return this socket
    WebSocket onPong(Consumer<? super Buffer> callback);

    /// Stops reading, until [#resume()].
    void pause();

    /// Goes on reading.
    void resume();

    // ------------------------------------------------------------------ sending

    /// Sends a message of text.
    ///
    /// @return whether to go on: false if the peer does not keep up, or the socket is closed, when nothing is sent
    ///     any more
    boolean send(String text);

    /// Sends what is readable in a buffer as a binary message, and empties it.
    ///
    /// @return as [#send(String)]
    boolean send(Buffer content);

    /// Sends a binary message.
    ///
    /// @return as [#send(String)]
    boolean send(byte[] content);

    /// Sends a message that was encoded once for many.
    ///
    /// @return as [#send(String)]
    boolean send(WebSocketMessage message);

    /// Sends a ping.
    ///
    /// @param content at most 125 bytes
    /// @return as [#send(String)]
    boolean ping(byte... content);

    /// Calls back each time there is room again after `send` said no. Replaces an earlier callback.
    ///
    /// @return this socket
    WebSocket onWritable(Runnable callback);

    /// How many messages were dropped for [WhenSlow#DROP].
    long dropped();

    // ------------------------------------------------------------------ ending

    /// Closes with 1000.
    default void close() {
        close(1000, "");
    }

    /// Begins the closing handshake, unless the peer has. Twice is safe. What was sent before is sent; messages that
    /// the peer has under way are not delivered any more, as in a browser.
    ///
    /// @param code 1000 to 1003, 1007 to 1014, or 3000 to 4999
    /// @param reason at most 123 bytes in UTF-8
    void close(int code, String reason);

    /// Calls back once when the socket is closed, however that came; soon, if it is already. Each call adds
    /// a callback: all are told, in order, and one that throws does not keep the others from it.
    ///
    /// @return this socket
    WebSocket onClose(Closed callback);

    /// Is told how a socket was closed.
    @FunctionalInterface
    interface Closed {
        /// The socket is closed.
        ///
        /// @param code what the peer said, or what it was told; 1005 without a code, 1006 if the connection was lost
        /// @param reason what the peer said, or what it was told; with 1006 how the connection was lost, in words for a log
        void closed(int code, String reason);
    }

    boolean isOpen();

    // ------------------------------------------------------------------ looking

    /// What was agreed to speak: of [WebSocketConfig#protocols]; null for nothing.
    @Nullable String protocol();

    /// Whether messages may be compressed.
    boolean isCompressed();

    /// The request of the upgrade's target: `/chat?room=7`.
    String target();

    SocketAddress peer();

    EventLoop loop();
}
