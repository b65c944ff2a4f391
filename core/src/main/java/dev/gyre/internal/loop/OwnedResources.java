package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// What is closed when the loop ends, the last one first.
///
/// Any thread: a loop that does not run may be ended by one thread while another sets it up, and what is
/// added must then either be closed or be refused.
final class OwnedResources {
    // Shared: guarded by this.
    private final List<AutoCloseable> all = new ArrayList<>();
    private boolean over;

    /// Declines once the last one has been taken for good.
    synchronized boolean tryAdd(AutoCloseable resource) {
        return !over && all.add(resource);
    }

    @SuppressWarnings("ReferenceEquality") // two that are equal are still two to be closed
    synchronized void remove(AutoCloseable resource) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i) == resource) {
                all.remove(i);
                return;
            }
        }
    }

    synchronized <T extends AutoCloseable> @Nullable T find(Class<T> type) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (type.isInstance(all.get(i))) {
                return type.cast(all.get(i));
            }
        }
        return null;
    }

    /// The loop is ending: takes the one that was added last, or null when none is left.
    synchronized @Nullable AutoCloseable pollLast() {
        over = all.isEmpty();
        return over ? null : all.removeLast();
    }
}
