package dev.gyre;

import dev.gyre.internal.promise.LoopDeferred;

import org.jspecify.annotations.Nullable;

/// Settles a promise, once.
///
/// ```java
/// Deferred<String> line = loop.deferred();
/// input.onLine(line::resolve);
/// line.promise().then(this::parse);
/// ```
///
/// Loop-confined. Another thread gets a [WrongThreadException]; it calls
/// `loop.submitPriority(() -> deferred.resolve(value))` instead. The first call settles the
/// promise. Later calls return false and change nothing.
///
/// @param <T> the type of the value
public sealed interface Deferred<T extends @Nullable Object> permits LoopDeferred {
    /// Returns the promise, always the same one.
    Promise<T> promise();

    /// Resolves the promise.
    ///
    /// @return false if it is settled already or follows another promise
    boolean resolve(T value);

    /// Rejects the promise.
    ///
    /// @return false if it is settled already or follows another promise
    boolean reject(Throwable reason);

    /// Settles the promise as the other one does, which may belong to another loop. From now on
    /// nothing else settles it. If the promise would follow itself, directly or through other
    /// promises of its loop, it is rejected with an [IllegalStateException].
    ///
    /// @return false if it is settled already or follows another promise
    boolean follow(Promise<? extends T> other);
}
