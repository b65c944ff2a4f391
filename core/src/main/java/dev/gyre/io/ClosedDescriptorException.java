package dev.gyre.io;

/// Reports the use of a descriptor after it was closed.
public final class ClosedDescriptorException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// Creates the exception.
    ///
    /// @param message names the descriptor
    public ClosedDescriptorException(String message) {
        super(message);
    }
}
