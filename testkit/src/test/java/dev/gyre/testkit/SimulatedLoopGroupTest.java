package dev.gyre.testkit;

import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopGroupContract;
import dev.gyre.conformance.On;

import org.junit.jupiter.api.AfterEach;

import java.time.Duration;
import java.util.function.BooleanSupplier;

@On("simulated")
class SimulatedLoopGroupTest extends LoopGroupContract {
    private final SimulatedWorld world = SimulatedWorld.seed(11);

    @Override
    protected LoopGroup open(int size, LoopGroupConfig config) {
        return world.group(size, config);
    }

    @Override
    protected void runUntil(BooleanSupplier condition) {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            if (i == 1_000) {
                throw new AssertionError("nothing happens in ten seconds");
            }
            world.advance(Duration.ofMillis(10));
        }
    }

    @AfterEach
    void closeWorld() {
        world.close();
    }
}
