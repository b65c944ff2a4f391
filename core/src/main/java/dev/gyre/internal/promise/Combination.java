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
import java.util.stream.Stream;

/// A promise that comes of several others.
///
/// Loop thread only.
abstract sealed class Combination<T extends @Nullable Object, R extends @Nullable Object>
        extends LoopPromise<R> {
    // Until it is settled: a settled promise keeps nothing alive but its value.
    private List<Part<T>> inputs;
    private int remaining;

    private Combination(Promises home, Collection<? extends Promise<? extends T>> promises) {
        super(home);
        Objects.requireNonNull(promises, "promises");
        List<Part<T>> listed = new ArrayList<>(promises.size());
        for (Promise<? extends T> promise : promises) {
            Objects.requireNonNull(promise, () -> "promises[" + listed.size() + "]");
            listed.add(new Part<>(this, (LoopPromise<? extends T>) promise));
        }
        inputs = listed;
        remaining = listed.size();
    }

    /// Waits for the others, once it is registered.
    final void begin() {
        if (remaining == 0) {
            complete();
            return;
        }
        attach((InternalReaction) this::detachInputs);
        for (Part<T> part : inputs) {
            part.begin(owner);
        }
    }

    /// A source that stays pending for long must not gather what no longer waits for it.
    private void detachInputs() {
        List<Part<T>> forsaken = inputs;
        inputs = List.of();
        forsaken.forEach(Part::forsake);
    }

    private static final class Part<T extends @Nullable Object> implements Reaction {
        final LoopPromise<? extends T> source;
        private @Nullable Combination<T, ?> whole;
        private @Nullable Subscription abroad;

        Part(Combination<T, ?> whole, LoopPromise<? extends T> source) {
            this.whole = whole;
            this.source = source;
        }

        void begin(Promises home) {
            abroad = source.observe(this, home);
        }

        @Override
        public void run() {
            Combination<T, ?> waiting = whole;
            if (waiting != null) {
                waiting.sourceSettled(source);
            }
        }

        void forsake() {
            whole = null;
            if (abroad == null) {
                source.detach(this);
            } else {
                abroad.cancelUnlessSettled();
            }
        }
    }

    private void sourceSettled(LoopPromise<? extends T> source) {
        remaining--;
        if (!decides(source) && remaining == 0) {
            complete();
        }
    }

    /// The promises it is made of, in their order. Only while it is pending.
    final Stream<LoopPromise<? extends T>> sources() {
        return inputs.stream().map(part -> part.source);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a loop is only itself
    final boolean isDerived() {
        for (Part<T> part : inputs) {
            if (part.source.owner == owner && part.source.isPending()) {
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
            @Nullable Object[] values = sources().map(LoopPromise::settledValue).toArray();
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
            settleResolved(sources().map(LoopPromise::outcome).toList());
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
            settleRejected(new AllRejectedException(sources().map(LoopPromise::reason).toList()));
        }
    }

    static final class Race<T extends @Nullable Object> extends Combination<T, T> {
        Race(Promises home, Collection<? extends Promise<? extends T>> promises) {
            super(home, promises);
            if (promises.isEmpty()) {
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
