/// The HTTP client: exchanges that wait for connections, and pools of idle connections.
///
/// Start with [dev.gyre.http.internal.client.LoopClient].
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.client;
