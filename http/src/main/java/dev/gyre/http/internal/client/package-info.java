/// The client: calls that wait for connections, and connections that are kept for calls.
///
/// Start with [dev.gyre.http.internal.client.LoopClient].
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.client;
