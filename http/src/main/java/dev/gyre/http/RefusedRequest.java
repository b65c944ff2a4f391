package dev.gyre.http;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;

/// What a peer sent that was no request, or not within the limits, as far as it was understood.
///
/// @param peer who sent it
/// @param method null if it did not get that far
/// @param target as much of it as was sent and may be in one; null if it did not get that far
/// @param status what was answered
/// @param reason the line that was answered, which says what is wrong
public record RefusedRequest(
        SocketAddress peer,
        @Nullable String method,
        @Nullable String target,
        int status,
        String reason) {}
