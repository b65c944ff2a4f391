package dev.gyre.internal.promise;

import dev.gyre.internal.count.Counter;

import org.jspecify.annotations.Nullable;

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
    /// @return how many there were
    long abandonAll(Throwable reason) {
        long abandoned = 0;
        for (Outside<?> outside = first; outside != null; outside = first) {
            outside.abandon(reason);
            abandoned++;
        }
        return abandoned;
    }
}
