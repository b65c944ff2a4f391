package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.IoHandler;

import org.jspecify.annotations.Nullable;

/// What polls have reported and nobody has taken yet. They are copied out of the ring, which may be gone
/// when their turn comes.
///
/// Loop thread only.
final class ReadyPolls {
    private final @Nullable Poll[] polls;
    private final int[] bits;
    private int collected;
    private int next;
    private int taken;

    ReadyPolls(int most) {
        polls = new @Nullable Poll[most];
        bits = new int[most];
    }

    boolean isEmpty() {
        return next == collected;
    }

    boolean isFull() {
        return collected == polls.length && next < collected;
    }

    /// Adds one.
    ///
    /// @return false if there is no room
    boolean add(Poll poll, int ready) {
        if (next == collected) {
            next = 0;
            collected = 0;
        }
        if (collected == polls.length) {
            return false;
        }
        polls[collected] = poll;
        bits[collected++] = ready;
        return true;
    }

    /// Takes the next one that is still registered.
    @Nullable IoHandler take() {
        while (next < collected) {
            Poll poll = polls[next];
            taken = bits[next];
            polls[next++] = null;
            if (poll != null && !poll.isRemoved()) {
                return poll.handler;
            }
        }
        return null;
    }

    /// The bits of the one taken last.
    int taken() {
        return taken;
    }
}
