package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;

import org.junit.jupiter.api.Test;

/// Random programs of operations in random worlds.
@On("simulated")
class OperationsSimulationTest {
    private static final int SEEDS = 600;

    @Test
    @Clause({"B-6", "O-6", "O-8"})
    void randomPrograms_inAWorldWithoutFaults_keepTheirPromises() {
        SimulatedWorld.eachSeed(SEEDS, world -> new RandomProgram(world).run());
    }

    @Test
    @Clause({"B-6", "O-6", "O-8"})
    void randomPrograms_withFaultsThatNobodyMayNotice_keepTheirPromises() {
        SimulatedWorld.eachSeed(
                SEEDS,
                world -> {
                    world.faults(Faults.harmless());
                    new RandomProgram(world).run();
                });
    }

    @Test
    @Clause({"B-6", "O-6", "O-8"})
    void randomPrograms_withAllFaults_keepTheirPromises() {
        SimulatedWorld.eachSeed(
                SEEDS,
                world -> {
                    world.faults(Faults.all());
                    new RandomProgram(world).run();
                });
    }

    @Test
    @Clause({"B-6", "O-6", "O-8"})
    void randomPrograms_withSmallBuffers_keepTheirPromises() {
        SimulatedWorld.eachSeed(
                SEEDS,
                world -> {
                    world.socketBuffers(1 << 12).faults(Faults.harmless());
                    new RandomProgram(world).run();
                });
    }

    @Test
    @Clause({"B-6", "O-6", "O-8"})
    void randomPrograms_twice_areTheSame() {
        for (int seed = 0; seed < 30; seed++) {
            assertThat(digest(seed)).as("digest of seed %d", seed).isEqualTo(digest(seed));
        }
    }

    private static long digest(long seed) {
        try (var world = SimulatedWorld.seed(seed).faults(Faults.all())) {
            new RandomProgram(world).run();
            return world.trace().digest();
        }
    }
}
