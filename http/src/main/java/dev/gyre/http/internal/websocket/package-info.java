/// WebSocket behind the public types: what is read of frames and put together, what is written, how a socket is
/// opened and closed.
///
/// Start with [dev.gyre.http.internal.websocket.WebSocketProtocol] for what arrives, and with
/// [dev.gyre.http.internal.websocket.LoopSocket] for what is sent.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.websocket;
