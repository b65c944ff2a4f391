package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.websocket.LoopWebSocket;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.URI;
import java.util.function.Consumer;

/// A WebSocket (RFC 6455) of a server or a client: sends and receives messages.
///
/// ```java
/// server.webSocket("/chat", socket -> { chat.add(socket); socket.onText(chat::broadcast); });
///
/// WebSocket.connect(loop, URI.create("ws://localhost:8080/chat")).thenAccept(socket -> {
///     socket.onText(IO::println);
///     socket.send("hello");
/// });
/// ```
///
/// Handled for you: pongs, fragmented messages, UTF-8 validation, compression, pings of idle peers,
/// and the closing handshake. A message without a callback is dropped.
///
/// **Limits.** A received message has at most [WebSocketConfig#maxMessage()] bytes after
/// decompression; a longer one closes the socket with 1009. A message slower than
/// [WebSocketConfig#messageTimeout()] closes it with 1008. All sockets of a loop share a part of
/// the heap for incomplete and waiting messages. When it is used up, the socket is closed with
/// 1013. [WebSocketConfig#slowConsumerPolicy()] applies to output that the peer does not accept.
///
/// **Failure.** A violation of the protocol closes the socket with 1002, invalid UTF-8 or
/// compressed data with 1007. A callback that throws closes its own socket with 1011.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop.
///
/// Methods that return a `WebSocket` return this one. Each `on` method except [#onClose] replaces
/// the earlier callback.
public sealed interface WebSocket permits LoopWebSocket {
    /// Connects with the default configuration.
    static Promise<WebSocket> connect(EventLoop loop, URI uri) {
        return connect(loop, uri, WebSocketConfig.DEFAULT);
    }

    /// Connects to a `ws:` or `wss:` URI. The promise is rejected as that of
    /// [dev.gyre.io.Stream#connect], or with a [java.net.ProtocolException] that names the server's
    /// response.
    ///
    /// @throws IllegalArgumentException if the URI is not that of a WebSocket
    static Promise<WebSocket> connect(EventLoop loop, URI uri, WebSocketConfig config) {
        return LoopWebSocket.connect(loop, uri, config);
    }

    // ------------------------------------------------------------------ receiving

    /// Sets the callback for text messages.
    WebSocket onText(Consumer<? super String> callback);

    /// Sets the callback for binary messages. The buffer is valid until the callback returns.
    WebSocket onBinary(Consumer<? super Buffer> callback);

    /// Sets the callback for pings. The pong is sent already. The payload is valid until the
    /// callback returns.
    WebSocket onPing(Consumer<? super Buffer> callback);

    /// Sets the callback for pongs. The payload is valid until the callback returns.
    WebSocket onPong(Consumer<? super Buffer> callback);

    /// Pauses reading until [#resume()].
    void pause();

    /// Resumes reading.
    void resume();

    // ------------------------------------------------------------------ sending

    /// Sends a text message. A message above 1 MiB is sent in fragments.
    ///
    /// @return false if the peer reads too slowly: continue in [#onWritable]; also false if the
    ///     socket is closed and the message was dropped
    boolean send(String text);

    /// Sends the readable bytes of a buffer as a binary message, and consumes them. They are not
    /// copied to the heap, unless they must wait or are compressed.
    ///
    /// @return as [#send(String)]
    boolean send(Buffer payload);

    /// Sends a binary message.
    ///
    /// @return as [#send(String)]
    boolean send(byte[] payload);

    /// Sends a message that is encoded once for many sockets.
    ///
    /// @return as [#send(String)]
    boolean send(WebSocketMessage message);

    /// Sends a ping.
    ///
    /// @param payload at most 125 bytes
    /// @return as [#send(String)]
    boolean ping(byte... payload);

    /// Sets the callback for a socket that is writable again after `send` returned false.
    WebSocket onWritable(Runnable callback);

    /// Returns the number of messages dropped by [SlowConsumerPolicy#DROP].
    long dropped();

    // ------------------------------------------------------------------ closing

    /// Closes with 1000.
    default void close() {
        close(1000, "");
    }

    /// Begins the closing handshake, unless the peer has. Earlier messages are sent. Messages that
    /// arrive afterwards are dropped, as in a browser. Idempotent.
    ///
    /// @param code 1000 to 1003, 1007 to 1014, or 3000 to 4999
    /// @param reason at most 123 bytes in UTF-8
    void close(int code, String reason);

    /// Adds a callback for the close, called once. All callbacks are called in order, even if one
    /// throws. If the socket is closed already, the callback is called soon.
    WebSocket onClose(Closed callback);

    /// Receives how a socket was closed.
    @FunctionalInterface
    interface Closed {
        /// Called when the socket is closed.
        ///
        /// @param code sent by the side that closed first; 1005 for a close frame without a code;
        ///     1006 for a lost connection
        /// @param reason sent with the code; for 1006 a description for the log
        void closed(int code, String reason);
    }

    /// Returns whether the socket is neither closed nor closing.
    boolean isOpen();

    // ------------------------------------------------------------------ state

    /// Returns the negotiated subprotocol of [WebSocketConfig#protocols()]; null if absent.
    @Nullable String protocol();

    /// Returns whether compression was negotiated.
    boolean isCompressed();

    /// Returns the target of the upgrade request, such as `/chat?room=7`.
    String target();

    /// Returns the peer's address.
    SocketAddress remoteAddress();

    /// Returns the loop of the socket. Any thread.
    EventLoop loop();

    /// Moves the socket to another loop: see [#moveTo(EventLoop, Consumer)].
    default void moveTo(EventLoop target) {
        moveTo(target, _ -> {});
    }

    /// Moves the socket to another loop, as [dev.gyre.io.Stream#moveTo] moves its stream. Messages
    /// keep their order, each exactly once. Callbacks stay, and run on the target's thread.
    ///
    /// The socket leaves its [WebSocketGroup]s: add it again in `moved`. A server drains its socket
    /// on each loop of its group. On other loops the socket no longer belongs to the server.
    ///
    /// @param moved called on the target's thread, before all other callbacks there
    /// @throws IllegalStateException if the socket is closed, closing or moving
    /// @throws dev.gyre.LoopTerminatedException if the target is terminating or terminated
    void moveTo(EventLoop target, Consumer<? super WebSocket> moved);
}
