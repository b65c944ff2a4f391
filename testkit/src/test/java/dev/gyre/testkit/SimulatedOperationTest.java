package dev.gyre.testkit;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.OperationContract;
import dev.gyre.io.OperationEndsContract;
import dev.gyre.io.OperationMisuseContract;
import dev.gyre.testkit.SimulatedConformanceTest.Simulated;
import dev.gyre.testkit.internal.SimulatedKernel;

import org.junit.jupiter.api.Nested;

import java.time.Duration;

/// Operations over the simulated kernel, which has a network of its own.
@On("simulated")
class SimulatedOperationTest {
    /// Longer than packets take: nothing arrives while no time passes.
    private static final Duration SETTLING = Duration.ofMillis(1);

    @Nested
    class Operating extends OperationContract {
        private final Simulated world = new Simulated(new SimulatedKernel(42));

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Override
        protected void settle() {
            loop.runFor(SETTLING);
        }
    }

    @Nested
    class Ending extends OperationEndsContract {
        private final Simulated world = new Simulated(new SimulatedKernel(42));

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Override
        protected void settle() {
            loop.runFor(SETTLING);
        }
    }

    @Nested
    class Misusing extends OperationMisuseContract {
        private final Simulated world = new Simulated(new SimulatedKernel(42));

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Override
        protected void settle() {
            loop.runFor(SETTLING);
        }
    }
}
