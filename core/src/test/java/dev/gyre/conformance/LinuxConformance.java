package dev.gyre.conformance;

import org.junit.jupiter.api.Nested;

/// The same for a backend of the real Linux, which has an operating system around it.
public abstract class LinuxConformance extends Conformance {
    @Nested
    class OperatingSystem extends SystemContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }
}
