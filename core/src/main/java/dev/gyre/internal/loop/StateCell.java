package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;
import static dev.gyre.LoopState.TERMINATED;
import static dev.gyre.LoopState.TERMINATING;

import dev.gyre.LoopState;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The loop's state, and the only transitions it may make.
///
/// ```
///                 ┌────────────── SLEEPING
///                 ▼                │  ▲
///     AWAKE ⇄ RUNNING ─────────────┼──┘
///        │        │                │
///        └────────┴───────┬────────┘        by the thread that begins the shutdown
///                         ▼
///                    TERMINATING ⇄ asleep   by the loop thread, while it drains
///                         │
///                         ▼
///                     TERMINATED
/// ```
///
/// A draining loop also sleeps. That is a state of this class only: users see TERMINATING. It is
/// a value of the same word, so that a producer decides by one read whether it has to wake.
///
/// Temporary states change by compare-and-set alone. A plain store of RUNNING after a wait would
/// overwrite a shutdown that has begun meanwhile, and the loop would never terminate. From
/// TERMINATING on, the thread that runs the shutdown is the only writer. It may store.
@SuppressWarnings("EnumOrdinal") // the ordinals of LoopState are part of the contract
public final class StateCell {
    private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(int[].class);

    /// In the middle of two cache lines on either side: every submit reads the state, and must not
    /// miss because a neighbour was written.
    private static final int NUMBER = 32;

    private static final LoopState[] BY_NUMBER = LoopState.values();

    /// TERMINATING, and the loop thread sleeps.
    private static final int DRAINING_ASLEEP = 6;

    /// The two low bits of [LoopState#SLEEPING] and [#DRAINING_ASLEEP], and of no other state.
    private static final int ASLEEP_MASK = 3;

    // Shared: moved by the loop thread and by the thread that begins a shutdown, read by all.
    private final int[] padded = new int[64];

    public StateCell() {
        padded[NUMBER] = AWAKE.ordinal();
    }

    private int number() {
        return (int) STATE.getVolatile(padded, NUMBER);
    }

    public LoopState get() {
        int now = number();
        return now == DRAINING_ASLEEP ? TERMINATING : BY_NUMBER[now];
    }

    public boolean is(LoopState state) {
        return number() == state.ordinal();
    }

    /// Returns whether the loop thread sleeps, or is about to. A volatile read: it must not pass
    /// the producer's store of a task before it.
    public boolean isAsleep() {
        return (number() & ASLEEP_MASK) == SLEEPING.ordinal();
    }

    /// Returns whether a shutdown has begun.
    public boolean isShuttingDown() {
        int now = number();
        return now == TERMINATING.ordinal()
                || now == TERMINATED.ordinal()
                || now == DRAINING_ASLEEP;
    }

    /// Moves between two states, with the effect of a full fence whether it succeeds or not.
    ///
    /// @return false if the state was not `from`; the state is then unchanged
    public boolean move(LoopState from, LoopState to) {
        assert isLegal(from, to) : from + " to " + to;
        return STATE.compareAndSet(padded, NUMBER, from.ordinal(), to.ordinal());
    }

    /// Announces that the loop thread is about to sleep, with the effect of a full fence.
    ///
    /// @param draining whether the loop thread drains; otherwise it runs
    /// @return false if a shutdown has begun that the loop thread does not drain for yet
    public boolean fallAsleep(boolean draining) {
        if (!draining) {
            return move(RUNNING, SLEEPING);
        }
        assert is(TERMINATING) : get();
        STATE.setVolatile(padded, NUMBER, DRAINING_ASLEEP);
        return true;
    }

    /// Ends the sleep. Leaves TERMINATING as it is if a shutdown has begun meanwhile.
    public void awake(boolean draining) {
        if (draining) {
            STATE.setVolatile(padded, NUMBER, TERMINATING.ordinal());
        } else {
            boolean _ = move(SLEEPING, RUNNING);
        }
    }

    /// Moves from TERMINATING, which only the thread that runs the shutdown leaves.
    public void terminated() {
        assert is(TERMINATING) : get();
        STATE.setVolatile(padded, NUMBER, TERMINATED.ordinal());
    }

    /// Returns whether the contract permits the transition.
    static boolean isLegal(LoopState from, LoopState to) {
        return switch (from) {
            case AWAKE -> to == RUNNING || to == TERMINATING;
            case RUNNING -> to == SLEEPING || to == AWAKE || to == TERMINATING;
            case SLEEPING -> to == RUNNING || to == TERMINATING;
            case TERMINATING -> to == TERMINATED;
            case TERMINATED -> false;
        };
    }
}
