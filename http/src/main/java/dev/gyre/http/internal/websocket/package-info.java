/// WebSocket behind the public types: reads and writes frames, assembles messages, opens and closes
/// sockets.
///
/// Start with [dev.gyre.http.internal.websocket.WebSocketProtocol] for input, and with
/// [dev.gyre.http.internal.websocket.LoopWebSocket] for output.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.websocket;
