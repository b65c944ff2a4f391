package dev.gyre.internal.promise;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// The writing end of a promise.
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
        Promises home = promise.owner;
        StackReserve.requireLarge();
        if (home.confinement.isHere()) {
            return promise.isUnresolved() && promise.settleResolved(value);
        }
        return home.runLocked(
                "resolve", () -> promise.isUnresolved() && promise.settleResolved(value));
    }

    @Override
    public boolean reject(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        Promises home = promise.owner;
        StackReserve.requireLarge();
        if (home.confinement.isHere()) {
            return promise.isUnresolved() && promise.settleRejected(reason);
        }
        return home.runLocked(
                "reject", () -> promise.isUnresolved() && promise.settleRejected(reason));
    }

    @Override
    public boolean follow(Promise<? extends T> other) {
        Objects.requireNonNull(other, "other");
        Promises home = promise.owner;
        StackReserve.requireLarge();
        if (home.confinement.isHere()) {
            return followed((LoopPromise<? extends T>) other);
        }
        return home.runLocked("follow", () -> followed((LoopPromise<? extends T>) other));
    }

    private boolean followed(LoopPromise<? extends T> other) {
        if (!promise.isUnresolved()) {
            return false;
        }
        promise.follow(other);
        return true;
    }

    @Override
    public String toString() {
        return "Deferred[" + promise + "]";
    }
}
