package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.websocket.LoopWebSocket;
import dev.gyre.http.internal.websocket.SocketMove;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

/// A WebSocket of a server. If it moves to another loop of the server's group, the server of that
/// loop adopts it. On other loops it belongs to no server.
///
/// Loop thread of the socket only.
final class ServedSocket implements SocketMove.Listener {
    private final LoopWebSocket socket;
    private final Stream stream;

    // Loop thread only.
    /// The connection before the upgrade; null once the socket has moved.
    private @Nullable HttpConnection connection;

    /// The server of the current loop; null if none, and while the socket moves.
    private @Nullable LoopServer server;

    /// The server of the loop that the socket moves to; null if none.
    private @Nullable LoopServer next;

    private WriteRateGuard output;

    ServedSocket(LoopServer server, LoopWebSocket socket, HttpConnection connection) {
        this.server = server;
        this.socket = socket;
        this.connection = connection;
        stream = connection.stream();
        output = connection.output;
        server.add(socket, stream);
        // The stream's callback: the socket's own belongs to the user.
        stream.onClose(this::closed);
    }

    private void closed(CloseReason reason) {
        output.cancel();
        if (connection != null) {
            connection.onClose(stream, reason);
        }
        if (server != null) {
            server.forget(socket);
        }
    }

    @Override
    public void leaving(EventLoop target) {
        output.cancel();
        LoopServer left = server;
        if (connection != null) {
            connection.onClose(stream, CloseReason.CLOSED); // It ends here, the stream does not.
            connection = null;
        }
        if (left != null) {
            server = null;
            next = left.on(target);
            left.forget(socket);
        }
    }

    @Override
    public void arrived() {
        LoopServer adopting = next;
        server = adopting;
        next = null;
        if (adopting != null) {
            output = new WriteRateGuard(adopting.context(), stream);
            output.watchAlways();
            adopting.add(socket, stream);
        }
    }
}
