package dev.gyre.internal.promise;

import dev.gyre.Deferred;
import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// Settles a promise on behalf of a user.
public final class LoopDeferred<T extends @Nullable Object> implements Deferred<T> {
    private final LoopPromise<T> promise;

    LoopDeferred(LoopPromise<T> promise) {
        this.promise = promise;
    }

    @Override
    public Promise<T> promise() {
        return promise;
    }

    @Override
    public boolean resolve(T value) {
        Promises owner = promise.owner;
        return owner.isLoopThread()
                ? resolveHere(value)
                : owner.runLocked("resolve", () -> resolveHere(value));
    }

    private boolean resolveHere(T value) {
        return promise.isUnresolved() && promise.settleResolved(value);
    }

    @Override
    public boolean reject(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        Promises owner = promise.owner;
        return owner.isLoopThread()
                ? rejectHere(reason)
                : owner.runLocked("reject", () -> rejectHere(reason));
    }

    private boolean rejectHere(Throwable reason) {
        return promise.isUnresolved() && promise.settleRejected(reason);
    }

    @Override
    public boolean follow(Promise<? extends T> other) {
        Objects.requireNonNull(other, "other");
        Promises owner = promise.owner;
        return owner.isLoopThread()
                ? followHere(other)
                : owner.runLocked("follow", () -> followHere(other));
    }

    private boolean followHere(Promise<? extends T> other) {
        if (!promise.isUnresolved()) {
            return false;
        }
        promise.follow((LoopPromise<? extends T>) other);
        return true;
    }

    @Override
    public String toString() {
        return "Deferred[" + promise + "]";
    }
}
