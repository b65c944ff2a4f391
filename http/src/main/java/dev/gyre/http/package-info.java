/// HTTP/1.1 and WebSocket over Gyre's streams: servers, a small client, files.
///
/// Start with [dev.gyre.http.HttpServer].
@org.jspecify.annotations.NullMarked
package dev.gyre.http;
