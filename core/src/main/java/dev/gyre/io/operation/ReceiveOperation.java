package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopReceiveOperation;
import dev.gyre.io.Buffer;

/// Receives repeatedly into the loop's receive buffers. A descriptor without input occupies no
/// buffer.
///
/// The operation ends at the end of input, with result zero, on an error, or when it is cancelled.
/// While all buffers are in use it waits for one.
public sealed interface ReceiveOperation extends Operation permits LoopReceiveOperation {
    /// Returns the received bytes. The buffer is returned to the loop after the callback.
    ///
    /// @throws IllegalStateException if the last completion has no bytes
    Buffer received();

    /// Keeps the received bytes after the callback, until [Buffer#release()]. Kept buffers are
    /// missing for other receives, so a slow reader slows its senders down. Slices made before
    /// become invalid.
    ///
    /// @return [#received()]
    /// @throws IllegalStateException if the last completion has no bytes
    Buffer keep();

    /// Returns whether more completions follow. If not, the operation can be started again.
    boolean hasMore();
}
