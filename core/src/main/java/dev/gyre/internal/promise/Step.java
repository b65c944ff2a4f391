package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

/// A promise that comes of another one's outcome. It is its own reaction to that, so that a step is one object.
///
/// Loop thread only.
abstract sealed class Step<S extends @Nullable Object, T extends @Nullable Object>
        extends LoopPromise<T> implements Reaction permits Steps.Kind, DeadlineStep {
    // Until it has run: a settled promise keeps nothing alive but its value.
    private @Nullable LoopPromise<S> source;

    Step(LoopPromise<S> source) {
        super(source.owner);
        this.source = source;
    }

    @Override
    final boolean isDerived() {
        return source != null || super.isDerived();
    }

    @Override
    @SuppressWarnings("Interruption") // what was thrown says that the thread has been interrupted
    public final void run() {
        LoopPromise<S> settled = source;
        if (settled == null) {
            return; // Settled otherwise, meanwhile.
        }
        source = null;
        try {
            onSettled(settled);
        } catch (VirtualMachineError fatal) {
            settleRejected(fatal);
            throw fatal; // The loop's own policy is for it.
        } catch (Throwable thrown) {
            if (thrown instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            settleRejected(thrown);
        }
    }

    /// Waits no longer.
    final void detachFromSource() {
        LoopPromise<S> forsaken = source;
        if (forsaken != null) {
            source = null;
            forsaken.detach(this);
        }
    }

    /// Goes on from the outcome of the source.
    abstract void onSettled(LoopPromise<S> source) throws Throwable;
}
