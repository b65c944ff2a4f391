package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// What is closed when the loop ends, the last one first.
///
/// Loop thread only.
final class Belongings {
    private final List<AutoCloseable> all = new ArrayList<>();

    void add(AutoCloseable resource) {
        all.add(resource);
    }

    @SuppressWarnings("ReferenceEquality") // two that are equal are still two to be closed
    void remove(AutoCloseable resource) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i) == resource) {
                all.remove(i);
                return;
            }
        }
    }

    <T extends AutoCloseable> @Nullable T find(Class<T> type) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (type.isInstance(all.get(i))) {
                return type.cast(all.get(i));
            }
        }
        return null;
    }

    @Nullable AutoCloseable takeLast() {
        return all.isEmpty() ? null : all.removeLast();
    }
}
