package dev.gyre.testkit;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.Conformance;
import dev.gyre.conformance.On;
import dev.gyre.conformance.World;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Descriptor;
import dev.gyre.testkit.internal.SimulatedBackend;
import dev.gyre.testkit.internal.SimulatedKernel;

import java.nio.file.Path;
import java.time.Duration;

/// The contracts of all backends, in simulated time. A [SimulatedWorld] has one loop, but the tests
/// open several on one kernel.
@On("simulated")
class SimulatedConformanceTest extends Conformance {
    @Override
    protected World newWorld() {
        return new Simulated(new SimulatedKernel(42));
    }

    /// Loops over one simulated kernel.
    record Simulated(SimulatedKernel kernel) implements World {
        @Override
        public EventLoop open(LoopConfig config) {
            return Loop.open(
                    config.withExecutor(kernel::runOutside),
                    new SimulatedBackend(
                            kernel, config.eventsPerWait(), config.maxWait().toNanos()));
        }

        @Override
        public Descriptor file(EventLoop loop) {
            Path path = Path.of(System.getProperty("gyre.root"), "pom.xml");
            kernel.writeFile(path.toString(), new byte[] {'x'});
            return World.super.file(loop);
        }

        @Override
        public long descriptors() {
            return kernel.openDescriptors();
        }

        @Override
        public void pass(EventLoop loop, Duration duration) {
            kernel.moveTo(kernel.nanoTime() + duration.toNanos());
        }

        @Override
        public boolean sleeps() {
            return false;
        }
    }
}
