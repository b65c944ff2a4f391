package dev.gyre.internal.net;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/// Limits the connections of a listener, over all its loops. A connection acquires a permit
/// before it is served, and releases the permit when it is closed.
///
/// **Exact.** A loop that finds no permit registers as a waiter in the same critical section. So no
/// permit becomes free between its check and its registration. A released permit passes to the
/// waiter that waits longest: a permit is free only if no loop waits. Every waiter has a client to
/// serve.
///
/// A loop that cannot use its permit releases it again: a paused one, or one that terminates.
///
/// Any thread. Used when a connection is admitted or closed, never by a request. Without a limit
/// nothing is shared.
final class ConnectionLimit {
    /// A loop that has an accepted connection without a permit.
    interface Waiter {
        /// Passes a permit to the waiter, which is no longer registered. Any thread.
        ///
        /// @return false if the loop is terminated; the permit stays with the caller
        boolean offerPlace();
    }

    private final int max;
    private final int maxPerPeer;

    // Shared: guarded by this.
    private int used;
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
    private final Map<InetAddress, Integer> perPeer = new HashMap<>();

    ConnectionLimit(int max, int maxPerPeer) {
        this.max = max;
        this.maxPerPeer = maxPerPeer;
    }

    private boolean isUnlimited() {
        return max == Integer.MAX_VALUE;
    }

    /// Acquires a permit, or registers the waiter, which must not be registered already.
    boolean acquire(Waiter waiter) {
        if (isUnlimited()) {
            return true;
        }
        synchronized (this) {
            if (used < max) {
                used++;
                return true;
            }
            waiters.add(waiter);
            return false;
        }
    }

    /// Releases a permit, or passes it to the waiter that waits longest.
    void release() {
        if (isUnlimited()) {
            return;
        }
        Waiter next = releaseOrPoll();
        while (next != null && !isTakenBy(next)) {
            next = releaseOrPoll();
        }
    }

    private boolean isTakenBy(Waiter waiter) {
        try {
            return waiter.offerPlace();
        } catch (Throwable e) { // Out of memory. The next release passes a permit to the waiter.
            synchronized (this) {
                used--;
                waiters.addFirst(waiter);
            }
            throw e;
        }
    }

    private synchronized @Nullable Waiter releaseOrPoll() {
        Waiter next = waiters.poll();
        if (next == null) {
            used--;
        }
        return next;
    }

    /// Deregisters a waiter.
    ///
    /// @return false if it is not registered; a permit may be on its way to it
    synchronized boolean remove(Waiter waiter) {
        return waiters.remove(waiter);
    }

    /// Returns whether there is no free permit.
    boolean isFull() {
        if (isUnlimited()) {
            return false;
        }
        synchronized (this) {
            return used >= max;
        }
    }

    /// Acquires one of the peer's permits. Unix domain peers have no limit.
    ///
    /// @return false if the peer has no further permit
    boolean acquireOf(SocketAddress peer) {
        if (maxPerPeer == Integer.MAX_VALUE || !(peer instanceof InetSocketAddress of)) {
            return true;
        }
        synchronized (this) {
            int others = perPeer.getOrDefault(of.getAddress(), 0);
            if (others >= maxPerPeer) {
                return false;
            }
            perPeer.put(of.getAddress(), others + 1);
            return true;
        }
    }

    /// Releases a permit, and the peer's one unless the peer is null.
    void release(@Nullable SocketAddress peer) {
        try {
            if (peer != null) {
                releaseOf(peer);
            }
        } finally {
            release();
        }
    }

    private void releaseOf(SocketAddress peer) {
        if (maxPerPeer == Integer.MAX_VALUE || !(peer instanceof InetSocketAddress of)) {
            return;
        }
        synchronized (this) {
            perPeer.computeIfPresent(of.getAddress(), (_, count) -> count == 1 ? null : count - 1);
        }
    }
}
