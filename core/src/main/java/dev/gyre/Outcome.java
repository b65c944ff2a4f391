package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// How a promise settled: with a value or with a reason.
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
    /// Settled with a value.
    ///
    /// @param value the value, null where the promise allows it
    /// @param <T> the type of the value
    record Resolved<T extends @Nullable Object>(T value) implements Outcome<T> {}

    /// Settled with a reason why there is no value.
    ///
    /// @param reason never null
    /// @param <T> the type that the value would have had
    record Rejected<T extends @Nullable Object>(Throwable reason) implements Outcome<T> {
        public Rejected {
            Objects.requireNonNull(reason, "reason");
        }
    }
}
