package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

/// Combines throwables, and rethrows checked ones where none is declared.
public final class Throwables {
    private Throwables() {}

    /// Returns the first of two throwables and adds the other one as suppressed.
    @SuppressWarnings("ReferenceEquality") // a throwable cannot suppress itself
    public static Throwable firstOf(@Nullable Throwable first, Throwable other) {
        if (first == null) {
            return other;
        }
        if (first != other) {
            first.addSuppressed(other);
        }
        return first;
    }

    /// Throws the throwable without a wrapper, which would hide it from catch clauses of the
    /// caller.
    public static RuntimeException rethrow(Throwable thrown) {
        throw Throwables.<RuntimeException>unchecked(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
