package dev.gyre.io;

import java.time.Duration;

/// How TCP asks a peer that says nothing whether it is still there.
///
/// @param idle how long nothing was heard before it first asks: whole seconds, to about nine hours
/// @param interval between one question and the next, the same
/// @param count how many go unanswered before the connection is given up: to 127
public record KeepAlive(Duration idle, Duration interval, int count) {
    /// What the kernel takes.
    private static final long MOST_SECONDS = 32_767;

    private static final int MOST_COUNT = 127;

    public KeepAlive {
        requireSeconds("idle", idle);
        requireSeconds("interval", interval);
        if (count < 1 || count > MOST_COUNT) {
            throw new IllegalArgumentException(
                    "count must be from 1 to " + MOST_COUNT + ", but is " + count);
        }
    }

    private static void requireSeconds(String what, Duration duration) {
        long seconds = duration.getSeconds();
        if (seconds < 1 || seconds > MOST_SECONDS || duration.getNano() != 0) {
            throw new IllegalArgumentException(
                    what
                            + " must be whole seconds, from 1 to "
                            + MOST_SECONDS
                            + ", but is "
                            + duration);
        }
    }
}
