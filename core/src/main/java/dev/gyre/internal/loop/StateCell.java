package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;
import static dev.gyre.LoopState.TERMINATED;
import static dev.gyre.LoopState.TERMINATING;

import dev.gyre.LoopState;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The loop's state, and the only moves it may make.
///
/// Temporary states change by compare-and-set alone: a plain store of RUNNING after a wait would
/// overwrite a shutdown that began meanwhile, and the loop would never end. Only the two states that are
/// never left backwards may be stored.
public final class StateCell {
    private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(int[].class);

    /// In the middle of two cache lines on either side: every submit reads the state, and must not miss
    /// because something beside it was written.
    private static final int NUMBER = 32;

    private static final LoopState[] BY_NUMBER = LoopState.values();

    // Shared: moved by the loop thread and by whoever ends the loop, read by all.
    private final int[] padded = new int[64];

    public StateCell() {
        padded[NUMBER] = AWAKE.number();
    }

    private int number() {
        return (int) STATE.getVolatile(padded, NUMBER);
    }

    public LoopState get() {
        return BY_NUMBER[number()];
    }

    /// A volatile read: a producer's look must not pass the store of its task before it.
    public boolean is(LoopState state) {
        return number() == state.number();
    }

    /// Whether shutdown has begun.
    public boolean isShuttingDown() {
        int now = number();
        return now == TERMINATING.number() || now == TERMINATED.number();
    }

    /// Moves between two states, with the effect of a full fence whether it succeeds or not.
    ///
    /// @return false if the state was not `from`; nothing has changed then
    public boolean move(LoopState from, LoopState to) {
        assert isLegal(from, to) : from + " to " + to;
        return STATE.compareAndSet(padded, NUMBER, from.number(), to.number());
    }

    /// The end. Only from TERMINATING, which nobody else leaves.
    public void terminated() {
        assert is(TERMINATING) : get();
        STATE.setVolatile(padded, NUMBER, TERMINATED.number());
    }

    /// The transitions of the contract; everything else is a defect.
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
