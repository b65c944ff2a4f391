package dev.gyre;

import dev.gyre.internal.promise.LoopDeferred;

import org.jspecify.annotations.Nullable;

/// The writing end of a promise: whoever holds it settles the promise, once.
///
/// ```java
/// Deferred<String> line = loop.deferred();
/// input.onLine(line::resolve);
/// line.promise().then(this::parse);
/// ```
///
/// Loop-confined: another thread that has the result hands it over,
/// `loop.submitPriority(() -> deferred.resolve(value))`, and gets a [WrongThreadException] otherwise. The first
/// call settles; each later one returns false and changes nothing.
///
/// @param <T> the type of the value
public sealed interface Deferred<T extends @Nullable Object> permits LoopDeferred {
    /// The reading end. Always the same one.
    Promise<T> promise();

    /// Resolves the promise.
    ///
    /// @return false if it is settled already, or follows another
    boolean resolve(T value);

    /// Rejects the promise.
    ///
    /// @return false if it is settled already, or follows another
    boolean reject(Throwable reason);

    /// Lets the promise settle as the other one does, which may belong to another loop. From now on nothing
    /// else settles it. A promise that is told to follow itself, also by way of others of its loop that follow
    /// one another, is rejected with an [IllegalStateException].
    ///
    /// @return false if it is settled already, or follows another
    boolean follow(Promise<? extends T> other);
}
