package dev.gyre.internal.promise;

import dev.gyre.AllRejectedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.Consumer;

/// Rejected promises without a handler: clause P-3. They are checked when a barrier has run all
/// microtasks, because a handler may be attached until then.
///
/// All of them are kept until then. Handled ones are removed before the array grows, so its size
/// follows the number of unhandled rejections.
///
/// Loop thread only, except for the counter.
public final class UnhandledRejections {
    static final int MIN_CAPACITY = 64;

    /// The maximum that a barrier carries over to the next tick. Excess rejections are reported
    /// oldest first, because an endless barrier would never report them.
    static final int MAX_CARRIED = 1 << 16;

    private @Nullable LoopPromise<?>[] candidates;
    private int first;
    private int end;
    private @Nullable LoopTerminatedException termination;
    private final Counter reported = new Counter();

    UnhandledRejections() {
        candidates = new @Nullable LoopPromise<?>[MIN_CAPACITY]; // javac rejects it above.
    }

    /// Ensures that the next promise can be added without an allocation.
    void ensureCapacity() {
        if (end < candidates.length) {
            return;
        }
        int unhandled = 0;
        for (int i = first; i < end; i++) {
            if (!at(i).isHandled()) {
                unhandled++;
            }
        }
        int capacity = Math.max(MIN_CAPACITY, 2 * unhandled);
        @Nullable LoopPromise<?>[] kept = new @Nullable LoopPromise<?>[capacity];
        int next = 0;
        for (int i = first; i < end; i++) {
            LoopPromise<?> promise = at(i);
            if (!promise.isHandled()) {
                kept[next++] = promise;
            }
        }
        candidates = kept;
        first = 0;
        end = next;
    }

    /// Adds a rejected promise, unless the loop's termination rejected it. Requires a preceding
    /// [#ensureCapacity].
    void add(LoopPromise<?> promise) {
        if (!isTermination(promise.settledValue())) {
            candidates[end++] = promise;
        }
    }

    /// Excludes rejections with that reason: the termination of the loop is no program error.
    void exclude(LoopTerminatedException reason) {
        termination = reason;
    }

    @SuppressWarnings("ReferenceEquality") // the instance of this termination
    private boolean isTermination(@Nullable Object reason) {
        if (reason instanceof AllRejectedException all) {
            return all.reasons().stream().anyMatch(this::isTermination);
        }
        return reason != null && reason == termination;
    }

    public boolean isEmpty() {
        return first == end;
    }

    int capacity() {
        return candidates.length;
    }

    /// Returns the number reported so far. Any thread.
    public long count() {
        return reported.get();
    }

    /// Reports each unhandled rejection once. Excludes promises that the observer itself rejects,
    /// which could continue without end.
    public void report(Consumer<? super LoopPromise<?>> observer) {
        report(end - first, observer);
    }

    /// Reports the oldest if there are more than [#MAX_CARRIED].
    public void reportExcess(Consumer<? super LoopPromise<?>> observer) {
        if (end - first > MAX_CARRIED) {
            report(end - first - MAX_CARRIED, observer);
        }
    }

    private void report(int oldest, Consumer<? super LoopPromise<?>> observer) {
        try {
            // May empty earlier: growing for the observer's own rejections removes handled ones.
            for (int left = oldest; left > 0 && !isEmpty(); left--) {
                LoopPromise<?> promise = at(first);
                candidates[first++] = null;
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

    /// Discards all: terminating the loop rejects many promises without a handler.
    void clear() {
        if (candidates.length > MIN_CAPACITY) {
            candidates = new @Nullable LoopPromise<?>[MIN_CAPACITY];
        } else {
            Arrays.fill(candidates, null);
        }
        first = 0;
        end = 0;
    }

    private LoopPromise<?> at(int index) {
        LoopPromise<?> promise = candidates[index];
        assert promise != null : "gap at " + index;
        return promise;
    }
}
