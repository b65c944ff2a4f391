package dev.gyre.internal.promise;

import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// All that is outstanding outside the loop, the oldest first.
///
/// Loop thread only, except for the counter.
final class Outstanding {
    private @Nullable Outside<?> first;
    private @Nullable Outside<?> last;
    final Counter count = new Counter();

    void add(Outside<?> outside) {
        outside.previous = last;
        if (last == null) {
            first = outside;
        } else {
            last.next = outside;
        }
        last = outside;
        count.add(1);
    }

    void remove(Outside<?> outside) {
        Outside<?> previous = outside.previous;
        Outside<?> next = outside.next;
        if (previous == null) {
            first = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            last = previous;
        } else {
            next.previous = previous;
        }
        outside.previous = null;
        outside.next = null;
        count.add(-1);
    }

    /// Abandons all.
    ///
    /// @return those that there were
    List<Outside<?>> abandonAll(Throwable reason) {
        List<Outside<?>> abandoned = new ArrayList<>();
        for (Outside<?> outside = first; outside != null; outside = first) {
            outside.abandon(reason);
            abandoned.add(outside);
        }
        return abandoned;
    }
}
