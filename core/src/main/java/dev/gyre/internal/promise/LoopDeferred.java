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
        Promises home = promise.home;
        StackReserve.requireLarge();
        if (home.confinement.isHere()) {
            return promise.isOpen() && promise.settleResolved(value);
        }
        return home.whileNobodyRuns(
                "resolve", () -> promise.isOpen() && promise.settleResolved(value));
    }

    @Override
    public boolean reject(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        Promises home = promise.home;
        StackReserve.requireLarge();
        if (home.confinement.isHere()) {
            return promise.isOpen() && promise.settleRejected(reason);
        }
        return home.whileNobodyRuns(
                "reject", () -> promise.isOpen() && promise.settleRejected(reason));
    }

    @Override
    public boolean follow(Promise<? extends T> other) {
        Objects.requireNonNull(other, "other");
        Promises home = promise.home;
        StackReserve.requireLarge();
        if (home.confinement.isHere()) {
            return followed((LoopPromise<? extends T>) other);
        }
        return home.whileNobodyRuns("follow", () -> followed((LoopPromise<? extends T>) other));
    }

    private boolean followed(LoopPromise<? extends T> other) {
        if (!promise.isOpen()) {
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
