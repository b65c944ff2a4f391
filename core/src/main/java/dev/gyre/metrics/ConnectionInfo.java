package dev.gyre.metrics;

import dev.gyre.io.OutputState;
import dev.gyre.io.StreamState;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;

/// An open connection as [dev.gyre.EventLoop#connections()] found it.
///
/// @param id see [dev.gyre.io.Stream#id()]
/// @param loop the name of the connection's loop
/// @param peer the peer's address
/// @param local the local address
/// @param state the state
/// @param outputState the state of the output
/// @param age the time since the connection was opened
/// @param idle the time since the last byte in either direction
/// @param received the number of bytes received and delivered
/// @param sent the number of bytes that the kernel accepted
/// @param pending the number of pending output bytes
/// @param tls whether TLS was started
/// @param nextTimeout the time until the next timeout of the stream; empty without timeouts
/// @param activity what the connection is doing, from [dev.gyre.io.Protocol#describe]
public record ConnectionInfo(
        long id,
        String loop,
        SocketAddress peer,
        SocketAddress local,
        StreamState state,
        OutputState outputState,
        Duration age,
        Duration idle,
        long received,
        long sent,
        long pending,
        boolean tls,
        Optional<Duration> nextTimeout,
        String activity) {}
