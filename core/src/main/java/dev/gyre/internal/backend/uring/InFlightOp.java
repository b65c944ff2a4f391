package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// A request in a slot of the [InFlightTable], from its start to its last CQE.
///
/// ```
///              submitted            last CQE
///     pending ──────────▶ in kernel ────────▶ result
///        ▲                    │  would block: a poll first
///        │                    │  short write: the rest
///        └────────────────────┘  no buffer, the run ended: again later
/// ```
///
/// A multishot can be in the kernel while its owner processes an earlier result. Results that
/// arrive meanwhile are held here.
///
/// Loop thread only.
final class InFlightOp {
    private static final long[] EMPTY = {};

    final int slot;
    @Nullable Request request;

    /// The queue in which it waits to be submitted; null if it is not pending.
    @Nullable ArrayDeque<InFlightOp> pendingIn;

    /// The `user_data` of its last SQE.
    long userData;

    /// Whether the kernel has that SQE, and with it all memory that it points to.
    boolean inKernel;

    /// Whether a cancellation of that SQE was submitted.
    boolean cancelSubmitted;

    /// Whether that SQE is a poll for readiness instead of the request itself.
    boolean polling;

    /// Whether that SQE is multishot.
    boolean multishot;

    /// Whether the next SQE is a poll for readiness.
    boolean pollFirst;

    /// Whether a multishot that the kernel refused is retried as single shot, to find out if
    /// multishot was the cause.
    boolean singleShot;

    /// Whether the last receive left room in its buffer. Only then the next one is multishot,
    /// because it will not consume several buffers at once.
    boolean drained;

    /// Whether a multishot was cancelled to resume later, in another form.
    boolean paused;

    /// Whether the owner of a multishot has a result and has not resumed it yet.
    boolean withOwner;

    /// The buffer of the result that [CqeProcessor] returned last; -1 if absent.
    int buffer = -1;

    private long[] held = EMPTY;
    private int heldHead;
    private int heldCount;

    InFlightOp(int slot) {
        this.slot = slot;
    }

    Request request() {
        Request current = request;
        assert current != null : "slot " + slot + " is free";
        return current;
    }

    void begin(Request of) {
        assert !inKernel && pendingIn == null && heldCount == 0 : "slot " + slot + " is in use";
        request = of;
        of.slot = slot;
        pollFirst = false;
        singleShot = false;
        drained = false;
        paused = false;
        withOwner = false;
        buffer = -1;
    }

    /// Returns whether the kernel uses its descriptor, or will.
    boolean isUnderWay() {
        return inKernel || pendingIn != null;
    }

    /// Returns whether the owner has results to process before the operation may continue.
    boolean isAhead() {
        return withOwner || heldCount > 0;
    }

    int heldCount() {
        return heldCount;
    }

    /// Holds a result with its buffer, or -1, until the owner resumes.
    void hold(int result, int heldBuffer) {
        if (heldCount == held.length) {
            long[] larger = new long[Math.max(8, heldCount * 2)];
            for (int i = 0; i < heldCount; i++) {
                larger[i] = held[(heldHead + i) % held.length];
            }
            held = larger;
            heldHead = 0;
        }
        held[(heldHead + heldCount++) % held.length] =
                ((long) heldBuffer << 32) | Integer.toUnsignedLong(result);
    }

    /// Removes the oldest held result, and sets its buffer.
    int pollHeld() {
        long oldest = held[heldHead];
        heldHead = (heldHead + 1) % held.length;
        heldCount--;
        buffer = (int) (oldest >> 32);
        return (int) oldest;
    }
}
