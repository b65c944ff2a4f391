package dev.gyre.internal.promise;

import dev.gyre.internal.base.Throwables;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// Several reactions to one promise, in the order they were attached.
///
/// One that is removed leaves a gap. Gaps at the front are skipped for good, so that thousands which go in the order
/// they came, as guards do at their deadlines, cost no more than one each.
///
/// Loop thread only.
final class Reactions {
    private @Nullable Reaction[] all = new @Nullable Reaction[4];
    private int first;
    private int end;
    private int gaps;

    Reactions(Reaction first, Reaction second) {
        all[0] = first;
        all[1] = second;
        end = 2;
    }

    void add(Reaction reaction) {
        if (end == all.length) {
            ensureCapacity();
        }
        all[end++] = reaction;
    }

    /// Closes the gaps if they are half of it, and grows otherwise.
    private void ensureCapacity() {
        int kept = end - first - gaps;
        @Nullable Reaction[] roomier =
                new @Nullable Reaction[kept <= all.length / 2 ? all.length : all.length * 2];
        int next = 0;
        for (int i = first; i < end; i++) {
            if (all[i] != null) {
                roomier[next++] = all[i];
            }
        }
        all = roomier;
        first = 0;
        end = next;
        gaps = 0;
    }

    @SuppressWarnings("ReferenceEquality") // the one that was added
    void remove(Reaction reaction) {
        for (int i = first; i < end; i++) {
            if (all[i] == reaction) {
                all[i] = null;
                gaps++;
                break;
            }
        }
        while (first < end && all[first] == null) {
            first++;
            gaps--;
        }
    }

    void collectSteps(List<Step<?, ?>> into) {
        for (int i = first; i < end; i++) {
            if (all[i] instanceof Step<?, ?> step) {
                into.add(step);
            }
        }
    }

    /// Returns an upper bound of the number of reactions.
    int size() {
        return end - first;
    }

    /// Triggers all reactions. Then rethrows the first exception, if any.
    void trigger(Promises home) {
        Throwable thrown = null;
        for (int i = first; i < end; i++) {
            Reaction reaction = all[i];
            if (reaction != null) {
                try {
                    home.notifySettled(reaction);
                } catch (Throwable e) {
                    thrown = Throwables.firstOf(thrown, e);
                }
            }
        }
        if (thrown != null) {
            throw Throwables.asItIs(thrown);
        }
    }
}
