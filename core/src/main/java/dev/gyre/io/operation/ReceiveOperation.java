package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopReceive;
import dev.gyre.io.Buffer;

/// Receives what arrives, again and again, in buffers of the loop's own: while nothing arrives, none is taken.
///
/// It ends at the end of input, with result zero, at an error, or when it is cancelled. If all buffers are out
/// it waits until one comes back.
public sealed interface ReceiveOperation extends Operation permits LoopReceive {
    /// What has arrived. It goes back to the loop when the callback returns.
    ///
    /// @throws IllegalStateException if the last completion brought nothing
    Buffer received();

    /// Takes what has arrived over: it goes back to the loop by [Buffer#release()]. Whoever keeps many keeps
    /// others waiting for buffers, which is how a reader that does not keep up slows its senders
    /// down. Slices that were taken of it before end here.
    ///
    /// @return [#received()]
    Buffer keep();

    /// Whether it goes on after this completion. After one that says no it can be started again.
    boolean hasMore();
}
