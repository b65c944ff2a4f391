package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;

/// A registered descriptor: what is wanted of it, which any thread may change, and what the kernel has been
/// asked for, which the loop thread brings into line with it.
final class PollRegistration {
    private static final int REMOVED = -1;

    /// For [#armedFor]: whatever is wanted, it has to be asked for anew.
    static final long NOTHING = -1;

    final int fd;
    final ReadinessHandler handler;

    // Shared: written under the lock of Registered, read by the loop. The interest, and above it
    // how often it was changed, so that a change to the same is one too.
    private volatile long wanted;

    // Shared: guarded by the lock of Registered. Whether it stands in the list of changes.
    boolean queued;

    // Loop thread only.
    int slot = -1;

    /// Whether it is in [ReadyPolls]. One event covers all completions since the previous event.
    boolean reported;

    /// What the poll in flight carries; zero if there is none.
    long armedAs;

    /// What was wanted when the kernel was asked last.
    long armedFor = NOTHING;

    PollRegistration(int fd, int interest, ReadinessHandler handler) {
        this.fd = fd;
        this.handler = handler;
        this.wanted = Integer.toUnsignedLong(interest);
    }

    long wanted() {
        return wanted;
    }

    void want(int interest) {
        long revision = (wanted >>> 32) + 1;
        wanted = ((revision & Integer.MAX_VALUE) << 32) | Integer.toUnsignedLong(interest);
    }

    void remove() {
        wanted = wanted | 0xFFFF_FFFFL; // REMOVED, whatever the interest was
    }

    boolean isRemoved() {
        return (int) wanted == REMOVED;
    }

    static boolean isRemoved(long wanted) {
        return (int) wanted == REMOVED;
    }

    static boolean isEmpty(long wanted) {
        return isRemoved(wanted)
                || (wanted & (Readiness.READ | Readiness.WRITE | Readiness.URGENT)) == 0;
    }

    static boolean isOneShot(long wanted) {
        return (wanted & Readiness.ONE_SHOT) != 0;
    }

    /// Whether one request reports each change. What lasts is asked for anew after each report.
    static boolean isMultishot(long wanted) {
        return ((int) wanted & (Readiness.EDGE | Readiness.ONE_SHOT)) == Readiness.EDGE;
    }

    static int kernelBits(long wanted) {
        return (int) wanted & Readiness.INTEREST;
    }
}
