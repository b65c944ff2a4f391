package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.http.WebSocket;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// Moves a socket to another loop, together with its stream.
///
/// Loop thread of the socket only.
public final class SocketMove {
    /// Follows the moves of a socket.
    public interface Listener {
        /// Called on the loop that the socket leaves.
        void leaving(EventLoop target);

        /// Called on the loop that the socket has moved to.
        void arrived();
    }

    private final LoopWebSocket socket;
    private final Stream stream;

    // Loop thread only.
    private @Nullable Listener listener;
    private boolean requested;
    private boolean underWay;

    SocketMove(LoopWebSocket socket, Stream stream) {
        this.socket = socket;
        this.stream = stream;
    }

    void setListener(Listener listener) {
        this.listener = listener;
    }

    boolean isUnderWay() {
        return underWay;
    }

    void requireDone(String type, String method) {
        if (underWay) {
            throw new IllegalStateException(
                    "cannot call %s.%s: %s is moving to another loop. Call it on that loop, from"
                                    .formatted(type, method, socket)
                            + " the moveTo callback or later");
        }
    }

    void start(EventLoop target, Consumer<? super WebSocket> moved) {
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(moved, "moved");
        if (!socket.isOpen()) {
            throw new IllegalStateException("cannot move " + socket + ": it is closed or closing");
        }
        requested = true;
        try {
            stream.moveTo(target, _ -> moved.accept(socket));
        } finally {
            requested = false;
        }
    }

    /// Called before the stream moves. A member of a group moves only if the user requests it,
    /// because it leaves the group.
    ///
    /// @return false to refuse
    boolean begin(EventLoop target) {
        if (!socket.isOpen() || (!socket.leaveListeners.isEmpty() && !requested)) {
            return false;
        }
        socket.leaveGroups();
        socket.timeouts.suspend();
        underWay = true;
        if (listener != null) {
            listener.leaving(target);
        }
        return true;
    }

    /// Called after the stream has moved.
    ///
    /// @return false if the new loop has no memory for waiting messages
    boolean finish(EventLoop loop, WebSocketScratch scratch) {
        underWay = false;
        socket.frames.moveTo(scratch);
        socket.callbacks.moveTo(loop, scratch);
        boolean fits = socket.sender.moveTo(scratch);
        if (listener != null) {
            listener.arrived();
        }
        socket.timeouts.moveTo(loop);
        socket.updateReading();
        return fits;
    }
}
