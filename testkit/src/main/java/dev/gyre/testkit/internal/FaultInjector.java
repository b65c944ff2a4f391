package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.testkit.Faults;

/// Decides when faults are injected.
final class FaultInjector {
    /// The maximum delay of an event that a fault holds back.
    private static final int MAX_DELAY_NANOS = 200_000;

    /// Errors of a connection in accept(2).
    private static final int[] ACCEPT_ERRORS = {
        Errno.ECONNABORTED,
        Errno.ENETDOWN,
        Errno.EPROTO,
        Errno.EHOSTDOWN,
        Errno.ENONET,
        Errno.EHOSTUNREACH,
        Errno.ENETUNREACH
    };

    private final SeededRandom random;

    // Guarded by the kernel's lock.
    Faults faults = Faults.none();

    FaultInjector(SeededRandom random) {
        this.random = random;
    }

    boolean interrupts() {
        return random.happens(faults.interrupts());
    }

    boolean blocks() {
        return random.happens(faults.spuriousBlocks());
    }

    boolean resets() {
        return random.happens(faults.resets());
    }

    boolean lacksBuffers() {
        return random.happens(faults.noBuffers());
    }

    /// Returns the error of an accept whose peer disconnected or is unreachable, or zero.
    int acceptError() {
        return random.happens(faults.aborts())
                ? ACCEPT_ERRORS[random.below(ACCEPT_ERRORS.length)]
                : 0;
    }

    boolean reorders() {
        return random.happens(faults.reordering());
    }

    boolean isLate() {
        return random.happens(faults.delays());
    }

    boolean inventsEvent() {
        return random.happens(faults.spuriousEvents());
    }

    boolean reuses() {
        return random.happens(faults.descriptorReuse());
    }

    /// Returns the error of a call that allocates a descriptor, or zero.
    int exhaustion() {
        if (!random.happens(faults.exhaustion())) {
            return 0;
        }
        return random.below(4) == 0 ? Errno.ENFILE : Errno.EMFILE;
    }

    /// Returns the length of a possibly short read: at least one byte.
    int shortenedRead(int length) {
        return length > 1 && random.happens(faults.shortReads())
                ? 1 + random.below(length - 1)
                : length;
    }

    int shortenedWrite(int length) {
        return length > 1 && random.happens(faults.shortWrites())
                ? 1 + random.below(length - 1)
                : length;
    }

    long delayNanos() {
        return 1L + random.below(MAX_DELAY_NANOS);
    }
}
