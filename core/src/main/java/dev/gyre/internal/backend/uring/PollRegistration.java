package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;

/// A registered descriptor. Any thread sets its interest, and the loop thread updates the poll in
/// the kernel to match.
final class PollRegistration {
    /// For [#armedInterest]: the poll has to be submitted again, whatever the interest is.
    static final long UNARMED = -1;

    private static final long REMOVED = 1L << 63;
    private static final long NEXT_REVISION = 1L << 32;

    final int fd;
    final ReadinessHandler handler;

    // Shared: written under the lock of PollTable, read by the loop. The lower half has the bits of
    // Readiness. The upper half counts changes, so that setting the same interest rearms the poll.
    private volatile long interest;

    // Shared: guarded by the lock of PollTable.
    boolean changed;

    // Confined to the owner of the ring.
    int slot = -1;

    /// The `user_data` of the poll in the kernel; 0 if absent.
    long userData;

    /// The interest when the poll was submitted.
    long armedInterest = UNARMED;

    /// The bits of [Readiness] to dispatch; 0 if none. One event covers all CQEs since the previous
    /// event.
    int ready;

    PollRegistration(int fd, int interest, ReadinessHandler handler) {
        this.fd = fd;
        this.handler = handler;
        this.interest = Integer.toUnsignedLong(interest);
    }

    long interest() {
        return interest;
    }

    void setInterest(int bits) {
        long revision = (interest + NEXT_REVISION) & ~REMOVED & -NEXT_REVISION;
        interest = revision | Integer.toUnsignedLong(bits);
    }

    void remove() {
        interest = interest | REMOVED;
    }

    static boolean isRemoved(long interest) {
        return (interest & REMOVED) != 0;
    }

    /// Returns whether the poll reports nothing. An interest in the end alone reports nothing.
    static boolean isEmpty(long interest) {
        return isRemoved(interest)
                || (interest & (Readiness.READ | Readiness.WRITE | Readiness.URGENT)) == 0;
    }

    static boolean isOneShot(long interest) {
        return (interest & Readiness.ONE_SHOT) != 0;
    }

    static boolean isEdgeTriggered(long interest) {
        return ((int) interest & (Readiness.EDGE | Readiness.ONE_SHOT)) == Readiness.EDGE;
    }

    static int pollMask(long interest) {
        return isEmpty(interest) ? 0 : (int) interest & Readiness.INTEREST;
    }
}
