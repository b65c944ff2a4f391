package dev.gyre.testkit;

import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;

/// Reports that a simulated world cannot continue, where a real program would hang or spin. No
/// event can end a wait, the loop ticks without progress, or a call would block forever. Also
/// reports buffers that were not released when the world is closed. The message contains the seed
/// and the end of the trace.
///
/// An error, so that tests do not mistake it for an outcome of the program under test.
public final class SimulationError extends AssertionError {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates an error.
    public SimulationError(String message) {
        super(message);
    }

    /// Creates an error with the failure that occurred in the world.
    public SimulationError(String message, Throwable cause) {
        super(message, cause);
    }

    static SimulationError ofLeaks(List<Throwable> takenAt, String context) {
        String places =
                takenAt.stream()
                        .map(taken -> taken.getMessage() + " " + placeOf(taken))
                        .collect(Collectors.joining("\n"));
        SimulationError error = new SimulationError(places + "\n" + context);
        takenAt.forEach(error::addSuppressed); // With their stack traces.
        return error;
    }

    private static String placeOf(Throwable taken) {
        StackTraceElement[] frames = taken.getStackTrace();
        return frames.length == 0 ? "at an unknown location" : "at " + frames[0];
    }
}
