package dev.gyre.testkit;

import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;

/// The simulated world cannot go on, and a real one would hang or spin: nothing is left that could end a wait,
/// the loop turns without getting anywhere, a call would block for ever. Or it is over, and
/// buffers are missing. The message says which, with the seed and the last lines of the trace.
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

    static SimulationError ofLeaks(List<Throwable> takenAt, String story) {
        String places =
                takenAt.stream()
                        .map(taken -> taken.getMessage() + " " + placeOf(taken))
                        .collect(Collectors.joining("\n"));
        SimulationError error = new SimulationError(places + "\n" + story);
        takenAt.forEach(error::addSuppressed); // The whole stacks.
        return error;
    }

    private static String placeOf(Throwable taken) {
        StackTraceElement[] frames = taken.getStackTrace();
        return frames.length == 0 ? "at a place unknown" : "at " + frames[0];
    }
}
