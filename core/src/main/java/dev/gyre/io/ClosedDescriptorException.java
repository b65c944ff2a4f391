package dev.gyre.io;

/// A descriptor was used after it was closed.
public final class ClosedDescriptorException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// Describes the use.
    public ClosedDescriptorException(String message) {
        super(message);
    }
}
