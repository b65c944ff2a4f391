package dev.gyre.internal.promise;

import dev.gyre.AllRejectedException;
import dev.gyre.Outcome;
import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/// A promise that comes of several others.
///
/// Loop thread only.
abstract sealed class Combination<T extends @Nullable Object, R extends @Nullable Object>
        extends LoopPromise<R> {
    final List<LoopPromise<? extends T>> sources;
    private int missing;

    private Combination(Promises home, Collection<? extends Promise<? extends T>> promises) {
        super(home);
        List<LoopPromise<? extends T>> listed = new ArrayList<>(promises.size());
        for (Promise<? extends T> promise : promises) {
            Objects.requireNonNull(promise, () -> "promises[" + listed.size() + "]");
            listed.add((LoopPromise<? extends T>) promise);
        }
        sources = Collections.unmodifiableList(listed);
        missing = sources.size();
    }

    /// Waits for the others, once it is registered.
    final void begin() {
        if (missing == 0) {
            complete();
        }
        for (LoopPromise<? extends T> source : sources) {
            source.observe(new Part<>(this, source), home);
        }
    }

    private record Part<T extends @Nullable Object>(
            Combination<T, ?> whole, LoopPromise<? extends T> source) implements Reaction {
        @Override
        public void run() {
            whole.sourceSettled(source);
        }
    }

    private void sourceSettled(LoopPromise<? extends T> source) {
        missing--;
        if (isPending() && !decides(source) && missing == 0) {
            complete();
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a loop is only itself
    final boolean isDerived() {
        for (LoopPromise<? extends T> source : sources) {
            if (source.home == home && source.isPending()) {
                return true;
            }
        }
        return false;
    }

    /// Settles the whole, if this source's outcome does.
    abstract boolean decides(LoopPromise<? extends T> source);

    /// All have settled and none has decided.
    abstract void complete();

    static final class All<T extends @Nullable Object> extends Combination<T, List<T>> {
        All(Promises home, Collection<? extends Promise<? extends T>> promises) {
            super(home, promises);
        }

        @Override
        boolean decides(LoopPromise<? extends T> source) {
            return !source.isResolved() && settleLike(source);
        }

        @Override
        void complete() {
            @Nullable Object[] values = new @Nullable Object[sources.size()];
            Arrays.setAll(values, i -> sources.get(i).settledValue());
            settleResolved(Collections.unmodifiableList(Arrays.asList(values)));
        }
    }

    static final class AllSettled<T extends @Nullable Object>
            extends Combination<T, List<Outcome<T>>> {
        AllSettled(Promises home, Collection<? extends Promise<? extends T>> promises) {
            super(home, promises);
        }

        @Override
        boolean decides(LoopPromise<? extends T> source) {
            return false;
        }

        @Override
        void complete() {
            settleResolved(sources.stream().map(LoopPromise::outcome).toList());
        }
    }

    static final class Any<T extends @Nullable Object> extends Combination<T, T> {
        Any(Promises home, Collection<? extends Promise<? extends T>> promises) {
            super(home, promises);
        }

        @Override
        boolean decides(LoopPromise<? extends T> source) {
            return source.isResolved() && settleLike(source);
        }

        @Override
        void complete() {
            settleRejected(
                    new AllRejectedException(sources.stream().map(LoopPromise::reason).toList()));
        }
    }

    static final class Race<T extends @Nullable Object> extends Combination<T, T> {
        Race(Promises home, Collection<? extends Promise<? extends T>> promises) {
            super(home, promises);
            if (sources.isEmpty()) {
                throw new IllegalArgumentException(
                        "a race of no promises would never settle: give it at least one");
            }
        }

        @Override
        boolean decides(LoopPromise<? extends T> source) {
            return settleLike(source);
        }

        @Override
        void complete() {
            throw new AssertionError("the first of them has decided");
        }
    }
}
