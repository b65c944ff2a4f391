package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.backend.Registrations.TAG_SHIFT;

import dev.gyre.internal.backend.Registrations;

/// What a `udata` says besides number and generation: enough to understand an event without
/// looking anything up.
final class Mark {
    // The table that the number belongs to: the lowest two bits of the tag.
    static final int DESCRIPTOR = 0;
    static final int SIGNAL = 1;
    static final int PROCESS = 2;
    static final int VNODE = 3;

    /// In the tag: it is a socket, whose two directions end one by one.
    static final int SOCKET = 4;

    /// Several filters are armed, and the first event of any ends all.
    static final long ONE_SHOT_OF_MANY = 8L << TAG_SHIFT;

    /// There is a filter for reading.
    static final long READS = 16L << TAG_SHIFT;

    /// The peer's end is to be told as such.
    static final long ENDS = 32L << TAG_SHIFT;

    /// There is a filter for urgent data.
    static final long URGENT = 64L << TAG_SHIFT;

    private static final long NUMBER_AND_GENERATION =
            0xFFFF_FFFF_0000_0000L | Registrations.MOST - 1;

    private Mark() {}

    static int table(long udata) {
        return (int) (udata >>> TAG_SHIFT) & 3;
    }

    static boolean isSocket(long udata) {
        return (udata & (long) SOCKET << TAG_SHIFT) != 0;
    }

    /// Whether it is the backend's own: no registration has generation zero.
    static boolean isOwn(long udata) {
        return udata >>> 32 == 0;
    }

    /// Whether two events are for one registration, though perhaps changed in between.
    static boolean sameRegistration(long udata, long other) {
        return (udata & NUMBER_AND_GENERATION) == (other & NUMBER_AND_GENERATION);
    }
}
