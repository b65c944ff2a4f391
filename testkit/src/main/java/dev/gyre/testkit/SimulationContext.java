package dev.gyre.testkit;

import java.io.Serial;

/// Added as suppressed to exceptions that leave a run of a world, so that their stack traces show
/// seed and trace.
final class SimulationContext extends Exception {
    @Serial private static final long serialVersionUID = 1L;

    SimulationContext(String context) {
        super(context, null, false, false);
    }
}
