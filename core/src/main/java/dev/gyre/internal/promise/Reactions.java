package dev.gyre.internal.promise;

import dev.gyre.internal.base.Throwables;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// Several reactions to one promise, in the order they were attached.
///
/// A removed reaction leaves a gap. Gaps at the front are dropped. So removing thousands in order,
/// as timeouts do, takes constant time each.
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

    /// Compacts the array if at least half of it is gaps, and grows it otherwise.
    private void ensureCapacity() {
        int kept = end - first - gaps;
        @Nullable Reaction[] copy =
                new @Nullable Reaction[kept <= all.length / 2 ? all.length : all.length * 2];
        int next = 0;
        for (int i = first; i < end; i++) {
            if (all[i] != null) {
                copy[next++] = all[i];
            }
        }
        all = copy;
        first = 0;
        end = next;
        gaps = 0;
    }

    @SuppressWarnings("ReferenceEquality") // identity of reactions
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

    /// Notifies all reactions. Then rethrows the first exception, if any.
    void notifySettled(Promises owner) {
        Throwable thrown = null;
        for (int i = first; i < end; i++) {
            Reaction reaction = all[i];
            if (reaction != null) {
                try {
                    owner.notifySettled(reaction);
                } catch (Throwable e) {
                    thrown = Throwables.firstOf(thrown, e);
                }
            }
        }
        if (thrown != null) {
            throw Throwables.rethrow(thrown);
        }
    }
}
