package dev.gyre.stress;

import org.jspecify.annotations.Nullable;

/// Checks the tasks that a lane delivers: 1, 2, 3 and so on from each producer.
/// A gap is a loss, a repetition a duplicate, anything else disorder.
///
/// Consumer only.
final class Transcript {
    static final String IN_ORDER = "each once, in order";

    private final int[] last = new int[Numbered.PRODUCERS];
    private @Nullable String fault;

    /// Records the next task.
    ///
    /// @param polled what `poll` returned
    /// @return whether it was a task
    boolean add(@Nullable Runnable polled) {
        if (polled == null) {
            return false;
        }
        Numbered task = (Numbered) polled;
        if (task.producer < 0) {
            note("a task without its fields");
        } else {
            int expected = ++last[task.producer];
            if (task.number != expected) {
                note(name(task.producer) + task.number + " instead of " + expected);
            }
        }
        return true;
    }

    /// The number of tasks that came.
    int size() {
        return last[Numbered.A] + last[Numbered.B];
    }

    /// What to say of it all.
    ///
    /// @param a how many A has offered
    /// @param b how many B has offered
    String verdict(int a, int b) {
        int fromA = last[Numbered.A];
        int fromB = last[Numbered.B];
        if (fault == null && (fromA != a || fromB != b)) {
            note("only " + fromA + " from A and " + fromB + " from B");
        }
        return fault == null ? IN_ORDER : fault;
    }

    private void note(String what) {
        if (fault == null) {
            fault = what;
        }
    }

    private static char name(int producer) {
        return (char) ('A' + producer);
    }
}
