/// Deadlines of connections, exchanges and sockets.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.time;
