package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;

/// Several reactions to one promise, in the order they were attached.
///
/// Loop thread only.
final class Reactions {
    private @Nullable Reaction[] all = new @Nullable Reaction[4];
    private int size;

    Reactions(Reaction first, Reaction second) {
        all[0] = first;
        all[1] = second;
        size = 2;
    }

    void add(Reaction reaction) {
        if (size == all.length) {
            all = Arrays.copyOf(all, size * 2);
        }
        all[size++] = reaction;
    }

    @SuppressWarnings("ReferenceEquality") // the one that was added
    void remove(Reaction reaction) {
        for (int i = 0; i < size; i++) {
            if (all[i] == reaction) {
                System.arraycopy(all, i + 1, all, i, size - i - 1);
                all[--size] = null;
                return;
            }
        }
    }

    void collectSteps(List<Step<?, ?>> into) {
        for (int i = 0; i < size; i++) {
            if (all[i] instanceof Step<?, ?> step) {
                into.add(step);
            }
        }
    }

    void trigger(Promises home) {
        for (int i = 0; i < size; i++) {
            Reaction reaction = all[i];
            assert reaction != null : "filled up to its size";
            home.trigger(reaction);
        }
    }
}
