package dev.gyre.http;

/// WebSockets that hear the same: a message is encoded once for all of them.
///
/// A socket leaves when it is closed. One that does not keep up is treated as its [WebSocketConfig#whenSlow] says, and the others
/// do not notice.
///
/// **Threads.** Loop thread only; its sockets are of one loop.
public final class Room {}
