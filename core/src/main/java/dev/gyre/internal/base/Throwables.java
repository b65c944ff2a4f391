package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

/// What becomes of several throwables where only one can be thrown, and of checked ones where none may.
public final class Throwables {
    private Throwables() {}

    /// The first of two, in which the other is suppressed.
    @SuppressWarnings("ReferenceEquality") // a throwable cannot suppress itself, whatever it equals
    public static Throwable firstOf(@Nullable Throwable first, Throwable other) {
        if (first == null) {
            return other;
        }
        if (first != other) {
            first.addSuppressed(other);
        }
        return first;
    }

    /// Throws it, whatever it is, as it is: wrapping it would hide it from the caller's catch clauses.
    public static RuntimeException asItIs(Throwable thrown) {
        throw Throwables.<RuntimeException>unchecked(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
