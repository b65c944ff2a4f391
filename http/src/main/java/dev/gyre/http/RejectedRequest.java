package dev.gyre.http;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;

/// A request that the server rejected before routing: malformed, or beyond a limit or timeout. See
/// [Middleware#onRejected].
///
/// @param remoteAddress the address of the connection
/// @param method `null` if the request ended before it
/// @param target as far as it is valid; `null` if the request ended before it
/// @param status the status of the response
/// @param reason one line that names the problem
/// @param bodyBytes the length of the response body
/// @param connectionId as [Request#connectionId()]
public record RejectedRequest(
        SocketAddress remoteAddress,
        @Nullable String method,
        @Nullable String target,
        int status,
        String reason,
        long bodyBytes,
        long connectionId) {}
