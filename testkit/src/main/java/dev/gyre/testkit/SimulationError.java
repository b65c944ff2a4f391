package dev.gyre.testkit;

import java.io.Serial;

/// The simulated world cannot go on, and a real one would hang or spin: nothing is left that could end a wait,
/// the loop turns without getting anywhere, a call would block for ever. The message says which, with the seed
/// and the last lines of the trace.
///
/// An error, so that no test takes it for an outcome of the program under test.
public final class SimulationError extends AssertionError {
    @Serial private static final long serialVersionUID = 1L;

    /// An error with its whole text.
    public SimulationError(String message) {
        super(message);
    }

    /// The same, with what went wrong in that world.
    public SimulationError(String message, Throwable cause) {
        super(message, cause);
    }
}
