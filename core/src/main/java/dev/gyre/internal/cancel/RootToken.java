package dev.gyre.internal.cancel;

import dev.gyre.CancelledException;

import org.jspecify.annotations.Nullable;

/// A token that is cancelled by something that is not a token.
sealed interface RootToken permits SourceToken, DeadlineToken {
    /// Whether it is cancelled by now, and why.
    @Nullable CancelledException reason();

    CancellationState fate();
}
