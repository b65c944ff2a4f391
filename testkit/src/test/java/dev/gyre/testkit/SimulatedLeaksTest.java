package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.io.Buffer;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

class SimulatedLeaksTest {
    /// These tests leak on purpose.
    private static final LoopConfig QUIET =
            LoopConfig.DEFAULT
                    .withFailurePolicy(FailurePolicy.PROPAGATE)
                    .withObserver(
                            new LoopObserver() {
                                @Override
                                public void onBufferLeak(EventLoop loop, Throwable takenAt) {}
                            });

    @Test
    void close_withABufferOut_saysWhereItWasTaken() {
        SimulatedWorld world = SimulatedWorld.seed(7, QUIET);
        Buffer.acquire(world.loop(), 5_000);
        assertThatThrownBy(world::close)
                .isInstanceOf(SimulationError.class)
                .hasMessageContaining(
                        "a buffer of 16384 bytes was acquired here and never released")
                .hasMessageContaining("close_withABufferOut_saysWhereItWasTaken")
                .hasMessageContaining("SimulatedLeaksTest.java");
        world.close(); // Reported once.
    }

    @Test
    void close_withAllBuffersBack_isQuiet() {
        SimulatedWorld world = SimulatedWorld.seed(7, QUIET);
        Buffer.acquire(world.loop(), 10).release();
        world.run();
        assertThat(world.loop().metrics().bufferMemory()).isZero();
        world.close();
    }
}
