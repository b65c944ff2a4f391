package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// The outcome of a promise: a value or a reason.
///
/// ```java
/// String line = switch (outcome) {
///     case Outcome.Resolved(var row) -> "found " + row;
///     case Outcome.Rejected(var reason) -> "failed: " + reason.getMessage();
/// };
/// ```
///
/// @param <T> the type of the value
public sealed interface Outcome<T extends @Nullable Object> {
    /// The outcome of a resolved promise.
    ///
    /// @param value the value; `null` if the promise permits it
    /// @param <T> the type of the value
    record Resolved<T extends @Nullable Object>(T value) implements Outcome<T> {}

    /// The outcome of a rejected promise.
    ///
    /// @param reason never `null`
    /// @param <T> the type of the promise's value
    record Rejected<T extends @Nullable Object>(Throwable reason) implements Outcome<T> {
        public Rejected {
            Objects.requireNonNull(reason, "reason");
        }
    }
}
