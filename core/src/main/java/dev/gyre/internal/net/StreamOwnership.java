package dev.gyre.internal.net;

import org.jspecify.annotations.Nullable;

/// The owner of a connection that moves between loops, and the request to abort it from another
/// loop. Either the request finds the owner, or the loop that the connection arrives on finds the
/// request.
///
/// A base class, so that a connection needs no further object.
///
/// @param <L> identifies a loop
abstract class StreamOwnership<L> {
    // Shared: written by the loops that the connection leaves and arrives on, read by any thread.
    // Null in transit.
    private volatile @Nullable L owner;

    // Shared: set by any thread, read by the loop that the connection arrives on.
    private volatile boolean abortRequested;

    StreamOwnership(L first) {
        owner = first;
    }

    /// Whether the loop owns the connection. Constant while its thread runs no other code.
    @SuppressWarnings("ReferenceEquality") // compares identity
    final boolean isOwnedBy(L loop) {
        return owner == loop;
    }

    /// The owner gives the connection up. Only [#arrivedOn] may follow.
    final void inTransit() {
        owner = null;
    }

    /// The loop becomes the owner.
    ///
    /// @return whether it must abort the connection
    final boolean arrivedOn(L loop) {
        owner = loop;
        return abortRequested;
    }

    /// Requests an abort. Any thread.
    ///
    /// @return the loop that must abort the connection if it still is the owner; null if the loop
    ///     that the connection arrives on does
    final @Nullable L requestAbort() {
        abortRequested = true;
        return owner;
    }
}
