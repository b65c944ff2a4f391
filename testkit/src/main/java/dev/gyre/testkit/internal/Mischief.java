package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.testkit.Faults;

/// Decides which occasions the faults hit.
final class Mischief {
    /// How much later something comes that a fault has held back, at most.
    private static final int MOST_DELAY_NANOS = 200_000;

    /// Errors of the connection that was to be accepted, as in accept(2).
    private static final int[] ACCEPT_ERRORS = {
        Errno.ECONNABORTED,
        Errno.ENETDOWN,
        Errno.EPROTO,
        Errno.EHOSTDOWN,
        Errno.ENONET,
        Errno.EHOSTUNREACH,
        Errno.ENETUNREACH
    };

    private final Dice dice;

    // Guarded by the kernel's lock.
    Faults faults = Faults.none();

    Mischief(Dice dice) {
        this.dice = dice;
    }

    boolean interrupts() {
        return dice.happens(faults.interrupts());
    }

    boolean blocks() {
        return dice.happens(faults.spuriousBlocks());
    }

    boolean resets() {
        return dice.happens(faults.resets());
    }

    boolean lacksBuffers() {
        return dice.happens(faults.noBuffers());
    }

    /// What an accept fails with because its peer is gone or unreachable, or zero.
    int acceptError() {
        return dice.happens(faults.aborts()) ? ACCEPT_ERRORS[dice.below(ACCEPT_ERRORS.length)] : 0;
    }

    boolean reorders() {
        return dice.happens(faults.reordering());
    }

    boolean isLate() {
        return dice.happens(faults.lateness());
    }

    boolean inventsEvent() {
        return dice.happens(faults.spuriousEvents());
    }

    boolean reuses() {
        return dice.happens(faults.reuse());
    }

    /// What a call that makes a descriptor is refused with, or zero.
    int exhaustion() {
        if (!dice.happens(faults.exhaustion())) {
            return 0;
        }
        return dice.below(4) == 0 ? Errno.ENFILE : Errno.EMFILE;
    }

    /// How much of a read is brought: at least one byte.
    int shortenedRead(int length) {
        return length > 1 && dice.happens(faults.shortReads())
                ? 1 + dice.below(length - 1)
                : length;
    }

    int shortenedWrite(int length) {
        return length > 1 && dice.happens(faults.shortWrites())
                ? 1 + dice.below(length - 1)
                : length;
    }

    long delayNanos() {
        return 1L + dice.below(MOST_DELAY_NANOS);
    }
}
