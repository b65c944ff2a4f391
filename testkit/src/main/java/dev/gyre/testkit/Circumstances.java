package dev.gyre.testkit;

import java.io.Serial;

/// Hung onto whatever leaves a run of a world, so that its stack trace also shows the seed and the trace.
final class Circumstances extends Exception {
    @Serial private static final long serialVersionUID = 1L;

    Circumstances(String story) {
        super(story, null, false, false);
    }
}
