package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;

/// What only few promises need: those that outlive their tick, are named in a log, or are traced.
final class RegistryEntry extends WeakReference<LoopPromise<?>> {
    final long id;
    final @Nullable Throwable createdAt;

    // Loop thread, or with the lock of the promises.
    long order;
    private boolean settled;

    RegistryEntry(LoopPromise<?> promise, long id, @Nullable Throwable createdAt) {
        super(promise);
        this.id = id;
        this.createdAt = createdAt;
    }

    void markSettled() {
        settled = true;
    }

    boolean isSettled() {
        return settled;
    }

    boolean isDead() {
        return settled || refersTo(null);
    }
}
