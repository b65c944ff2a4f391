package dev.gyre.http;

import java.util.function.Consumer;

/// Immutable settings. Each method that changes one returns a copy.
///
/// @param <T> the class itself
abstract class Settings<T extends Settings<T>> implements Cloneable {
    @SuppressWarnings("unchecked") // A clone has the same class.
    final T with(Consumer<? super T> change) {
        try {
            T copy = (T) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("settings are Cloneable", e);
        }
    }
}
