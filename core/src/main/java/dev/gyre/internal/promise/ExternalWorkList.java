package dev.gyre.internal.promise;

import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// All that is outstanding outside the loop, the oldest first.
///
/// Loop thread only, except for the counter.
final class ExternalWorkList {
    private @Nullable ExternalWork<?> first;
    private @Nullable ExternalWork<?> last;
    final Counter count = new Counter();

    void add(ExternalWork<?> outside) {
        outside.previous = last;
        if (last == null) {
            first = outside;
        } else {
            last.next = outside;
        }
        last = outside;
        count.add(1);
    }

    void remove(ExternalWork<?> outside) {
        ExternalWork<?> previous = outside.previous;
        ExternalWork<?> next = outside.next;
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
    List<ExternalWork<?>> abandonAll(Throwable reason) {
        List<ExternalWork<?>> abandoned = new ArrayList<>();
        for (ExternalWork<?> outside = first; outside != null; outside = first) {
            outside.abandon(reason);
            abandoned.add(outside);
        }
        return abandoned;
    }
}
