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

/// A promise that combines several others.
///
/// Loop thread only.
abstract sealed class Combination<T extends @Nullable Object, R extends @Nullable Object>
        extends LoopPromise<R> {
    // Empty once settled: a settled promise keeps only its value reachable.
    private List<Input<T>> inputs;
    private int remaining;

    private Combination(Promises owner, Collection<? extends Promise<? extends T>> promises) {
        super(owner);
        Objects.requireNonNull(promises, "promises");
        List<Input<T>> listed = new ArrayList<>(promises.size());
        for (Promise<? extends T> promise : promises) {
            Objects.requireNonNull(promise, () -> "promises[" + listed.size() + "]");
            listed.add(new Input<>(this, (LoopPromise<? extends T>) promise));
        }
        inputs = listed;
        remaining = listed.size();
    }

    /// Observes the inputs. Called after registration.
    final void start() {
        if (remaining == 0) {
            complete();
            return;
        }
        attach((Reaction.Internal) this::detachInputs);
        for (Input<T> input : inputs) {
            input.observe(owner);
        }
    }

    /// A source that stays pending must not accumulate reactions of settled combinations.
    private void detachInputs() {
        List<Input<T>> detached = inputs;
        inputs = List.of();
        detached.forEach(Input::detach);
    }

    private static final class Input<T extends @Nullable Object> implements Reaction {
        final LoopPromise<? extends T> source;
        private @Nullable Combination<T, ?> target;
        private @Nullable Subscription foreign;

        Input(Combination<T, ?> target, LoopPromise<? extends T> source) {
            this.target = target;
            this.source = source;
        }

        void observe(Promises owner) {
            foreign = source.observe(this, owner);
        }

        @Override
        public void run() {
            Combination<T, ?> waiting = target;
            if (waiting != null) {
                waiting.onSourceSettled(source);
            }
        }

        void detach() {
            target = null;
            if (foreign == null) {
                source.detach(this);
            } else {
                foreign.cancel();
            }
        }
    }

    private void onSourceSettled(LoopPromise<? extends T> source) {
        remaining--;
        if (!decides(source) && remaining == 0) {
            complete();
        }
    }

    /// Returns the source promises in order. Only while pending.
    final Stream<LoopPromise<? extends T>> sources() {
        return inputs.stream().map(input -> input.source);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // identity of loops
    final boolean isDerived() {
        for (Input<T> input : inputs) {
            if (input.source.owner == owner && input.source.isPending()) {
                return true;
            }
        }
        return false;
    }

    /// Settles the combination if the outcome of this source is decisive.
    abstract boolean decides(LoopPromise<? extends T> source);

    /// Settles the combination after all sources have settled and none was decisive.
    abstract void complete();

    static final class All<T extends @Nullable Object> extends Combination<T, List<T>> {
        All(Promises owner, Collection<? extends Promise<? extends T>> promises) {
            super(owner, promises);
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
        AllSettled(Promises owner, Collection<? extends Promise<? extends T>> promises) {
            super(owner, promises);
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
        Any(Promises owner, Collection<? extends Promise<? extends T>> promises) {
            super(owner, promises);
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
        Race(Promises owner, Collection<? extends Promise<? extends T>> promises) {
            super(owner, promises);
            if (promises.isEmpty()) {
                throw new IllegalArgumentException(
                        "a race without promises would never settle: pass at least one");
            }
        }

        @Override
        boolean decides(LoopPromise<? extends T> source) {
            return settleLike(source);
        }

        @Override
        void complete() {
            throw new AssertionError("the first source has decided");
        }
    }
}
