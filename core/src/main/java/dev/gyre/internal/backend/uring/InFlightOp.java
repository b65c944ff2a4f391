package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

/// A request on its way through the ring, in a slot that it keeps from its turn to its last completion.
///
/// ```
///              written              completed
///     waiting ─────────▶ in kernel ──────────▶ over
///        ▲                   │  would block: a poll first
///        │                   │  short write: the rest
///        └───────────────────┘  no buffer, run left: again later
/// ```
///
/// A multishot may be in the kernel and with its owner at once. What it brings meanwhile is held back here.
///
/// Loop thread only.
final class InFlightOp {
    private static final long[] NONE = {};

    final int slot;
    @Nullable Request request;

    /// What the submission that the kernel has carries.
    long token;

    /// What it carried when its end was asked for: by now the kernel may have something else of it.
    long cancelToken;

    /// Which submission the kernel was asked to end.
    long cancelSent;

    /// Whether the kernel has it, and with it all memory that it points to.
    boolean inKernel;

    /// Whether what the kernel has is not the request itself but a poll before it.
    boolean polling;

    /// Whether it stands in the list of those to be written into the ring.
    boolean waiting;

    /// Whether it stands in the list of those that wait for a buffer.
    boolean starved;

    /// Whether it is to wait for readiness before it is tried again.
    boolean pollFirst;

    /// Of a multishot that the kernel refused: whether it is asked for one by one, to see if it was that.
    boolean singly;

    /// Whether the last receive left room in its buffer. Only then is the next one multishot,
    /// because it will not consume several buffers at once.
    boolean drained;

    /// Of a multishot: whether a completion is posted or handed out that was not dealt with yet.
    boolean withOwner;

    /// Of a multishot that was too far ahead of its owner: it is to pause.
    boolean parked;

    /// Of a multishot that is over while its owner has yet to deal with what came before: how it ended.
    boolean ended;

    long end;

    private long[] held = NONE;
    private int first;
    private int heldCount;

    InFlightOp(int slot) {
        this.slot = slot;
    }

    Request request() {
        Request current = request;
        assert current != null : "nobody is in slot " + slot;
        return current;
    }

    void begin(Request of) {
        request = of;
        of.slot = slot;
        pollFirst = false;
        singly = false;
        drained = false;
        withOwner = false;
        parked = false;
        ended = false;
        end = 0;
        assert !inKernel && !waiting && !starved && heldCount == 0 : "taken while in use";
    }

    /// Whether the kernel uses its descriptor, or is about to.
    boolean isUnderWay() {
        return inKernel || waiting;
    }

    int held() {
        return heldCount;
    }

    /// Holds a result back, with the buffer it came in or -1.
    void hold(int result, int buffer) {
        if (heldCount == held.length) {
            long[] larger = new long[Math.max(8, heldCount * 2)];
            for (int i = 0; i < heldCount; i++) {
                larger[i] = held[(first + i) % held.length];
            }
            held = larger;
            first = 0;
        }
        held[(first + heldCount++) % held.length] =
                ((long) buffer << 32) | Integer.toUnsignedLong(result);
    }

    /// The oldest result that is held back: as [#resultOf] and [#bufferOf] understand it.
    long release() {
        long oldest = held[first];
        first = (first + 1) % held.length;
        heldCount--;
        return oldest;
    }

    static int resultOf(long held) {
        return (int) held;
    }

    static int bufferOf(long held) {
        return (int) (held >> 32);
    }
}
