package dev.gyre.internal.io;

import dev.gyre.internal.backend.DescriptorState;

/// A descriptor as far as a loop's operations use it: holds the number from the first operation until the
/// descriptor is closed and the kernel has let go of it.
final class FdLease implements FdLifetime.User {
    final FdLifetime opening;
    final DescriptorState state;

    /// Whether its reads continue during a graceful shutdown, because they belong to an unfinished
    /// transfer.
    boolean transfers;

    private final LoopOperations operations;

    // Loop thread only.
    private boolean closed;

    FdLease(LoopOperations operations, FdLifetime opening, DescriptorState state) {
        this.operations = operations;
        this.opening = opening;
        this.state = state;
    }

    /// Any thread: the descriptor is being closed. Its operations are the loop thread's to end.
    @Override
    public void descriptorClosing() {
        operations.onLoop(this::close);
    }

    /// Cancels what is pending, and lets the number go when the kernel has.
    void close() {
        if (!closed) {
            closed = true;
            operations.remove(this);
            operations.requests.close(state, opening::leave);
        }
    }
}
