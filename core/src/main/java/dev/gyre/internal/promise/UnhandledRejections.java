package dev.gyre.internal.promise;

import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.Consumer;

/// Rejected promises that have no handler yet: clause P-3. They are looked at when a barrier has run
/// all microtasks, because until then a handler may still be attached.
///
/// Every one of them is kept until then. Those that were handled meanwhile are removed before the
/// array grows, so it is never much larger than what is really unhandled.
///
/// Loop thread only, except for the counter.
public final class UnhandledRejections {
    static final int MIN_CAPACITY = 64;

    /// A barrier that goes on over many ticks keeps no more than this from one tick to the next. The
    /// oldest are reported then: their turn would never come in a barrier without an end.
    static final int MAX_CARRIED = 1 << 16;

    private @Nullable LoopPromise<?>[] suspects;
    private int first;
    private int end;
    private final Counter reported = new Counter();

    UnhandledRejections() {
        suspects = new @Nullable LoopPromise<?>[MIN_CAPACITY]; // javac fails if it is done above.
    }

    /// Lets the next one be added without an allocation.
    void ensureCapacity() {
        if (end < suspects.length) {
            return;
        }
        int kept = 0;
        for (int i = first; i < end; i++) {
            if (!at(i).isHandled()) {
                kept++;
            }
        }
        keepUnhandled(Math.max(MIN_CAPACITY, 2 * kept));
    }

    /// Only when there is room.
    void add(LoopPromise<?> promise) {
        suspects[end++] = promise;
    }

    public boolean isEmpty() {
        return first == end;
    }

    int capacity() {
        return suspects.length;
    }

    /// How many there have been. Any thread.
    public long count() {
        return reported.get();
    }

    /// Reports those that are still unhandled, each once. What the observer rejects is not among them:
    /// it might do so for ever.
    public void report(Consumer<? super LoopPromise<?>> observer) {
        report(end - first, observer);
    }

    /// Reports the oldest if there are more than may be carried over to another tick.
    public void reportExcess(Consumer<? super LoopPromise<?>> observer) {
        if (end - first > MAX_CARRIED) {
            report(end - first - MAX_CARRIED, observer);
        }
    }

    private void report(int oldest, Consumer<? super LoopPromise<?>> observer) {
        try {
            // It may be emptied earlier: making room for what the observer rejects removes some.
            for (int left = oldest; left > 0 && !isEmpty(); left--) {
                LoopPromise<?> promise = at(first);
                suspects[first++] = null;
                if (!promise.isHandled()) {
                    reported.add(1);
                    observer.accept(promise);
                }
            }
        } finally {
            if (isEmpty()) {
                clear();
            }
        }
    }

    /// Forgets them: the loop's end rejects much that has no handler.
    void clear() {
        if (suspects.length > MIN_CAPACITY) {
            suspects = new @Nullable LoopPromise<?>[MIN_CAPACITY];
        } else {
            Arrays.fill(suspects, null);
        }
        first = 0;
        end = 0;
    }

    private LoopPromise<?> at(int index) {
        LoopPromise<?> promise = suspects[index];
        assert promise != null : "gap at " + index;
        return promise;
    }

    private void keepUnhandled(int capacity) {
        @Nullable LoopPromise<?>[] kept = new @Nullable LoopPromise<?>[capacity];
        int next = 0;
        for (int i = first; i < end; i++) {
            LoopPromise<?> promise = at(i);
            if (!promise.isHandled()) {
                kept[next++] = promise;
            }
        }
        suspects = kept;
        first = 0;
        end = next;
    }
}
