package dev.gyre.conformance;

import org.junit.jupiter.api.Nested;

/// The contracts that hold on every backend, clause B-1. A subclass says [On] which, and makes its world.
public abstract class Conformance {
    /// A world for one test.
    protected abstract World newWorld();

    @Nested
    class TheLoop extends LoopContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }

    @Nested
    class Ingress extends IngressContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }

    @Nested
    class Timers extends TimerContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }

    @Nested
    class Watchers extends WatcherContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }

    @Nested
    class Shutdown extends ShutdownContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }

    @Nested
    class Promises extends PromiseContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }

    @Nested
    class EndOfStack extends StackEndContract {
        private final World world = newWorld();

        @Override
        protected World world() {
            return world;
        }
    }
}
