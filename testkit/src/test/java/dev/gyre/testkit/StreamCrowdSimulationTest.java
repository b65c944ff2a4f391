package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/// Many streams that end at once: more than there are microtasks in a tick.
@On("simulated")
class StreamCrowdSimulationTest {
    private static final int CROWD = 3_000;

    private final List<Integer> breaches = new ArrayList<>();
    private final List<Throwable> thrown = new ArrayList<>();
    private final List<Stream> streams = new ArrayList<>();
    private final List<SimulatedPeer> peers = new ArrayList<>();
    private final List<CloseReason> traced = new ArrayList<>();
    private SimulatedWorld world;

    @BeforeEach
    void gather() {
        LoopObserver observer =
                new LoopObserver() {
                    @Override
                    public void onMicrotaskBudgetExceeded(EventLoop loop, int remaining) {
                        breaches.add(remaining);
                    }
                };
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withObserver(observer)
                        .withUncaughtHandler((_, e) -> thrown.add(e));
        world = SimulatedWorld.seed(1, config).descriptorLimit(4 * CROWD);
        assertThat(CROWD).isGreaterThan(2 * config.microtaskBudget());
        Listener.on(
                world.loop(),
                new InetSocketAddress(80),
                ListenerConfig.DEFAULT,
                stream -> {
                    streams.add(stream);
                    stream.onData(Buffer::clear).onClose(traced::add);
                });
        for (int i = 0; i < CROWD; i++) {
            peers.add(world.connect(80));
        }
        world.run();
        assertThat(streams).hasSize(CROWD);
        breaches.clear();
    }

    @AfterEach
    void closeWorld() {
        world.close();
    }

    @Test
    @Clause({"M-2", "N-4"})
    void crowd_closedAtOnce_isToldInThatTickAndIsNoBreach() {
        List<Integer> afterwards = new ArrayList<>();
        world.loop()
                .submit(
                        () -> {
                            streams.forEach(Stream::abort);
                            assertThat(traced).as("told inside a call of its own").isEmpty();
                            world.loop().defer(() -> afterwards.add(traced.size()));
                        });
        world.run();
        assertThat(traced).hasSize(CROWD).containsOnly(CloseReason.ABORTED);
        assertThat(afterwards).as("told when the next callback came").containsExactly(CROWD);
        assertThat(breaches).as("microtasks that were said to be too many").isEmpty();
    }

    @Test
    @Clause({"M-2", "N-6"})
    void crowd_thatResetsAtOnce_isNoBreach() {
        peers.forEach(SimulatedPeer::reset);
        world.run();
        assertThat(traced).hasSize(CROWD).containsOnly(CloseReason.RESET);
        assertThat(breaches).isEmpty();
    }

    @Test
    @Clause({"L-10", "N-6"})
    void crowd_ofWhichEveryThirdThrows_isToldWholly() {
        for (int i = 0; i < CROWD; i += 3) {
            streams.get(i)
                    .onClose(
                            _ -> {
                                throw new IllegalStateException("thrown by the test");
                            });
        }
        world.loop().submit(() -> streams.forEach(Stream::abort));
        world.run();
        assertThat(traced).hasSize(CROWD);
        assertThat(thrown).hasSize(CROWD / 3);
    }

    @Test
    @Clause({"S-3", "N-4"})
    void crowd_closedBeforeTheLoopIs_isToldAllTheSame() {
        world.loop()
                .submit(
                        () -> {
                            streams.forEach(Stream::abort);
                            world.loop().close();
                        });
        world.run();
        assertThat(traced).hasSize(CROWD).containsOnly(CloseReason.ABORTED);
    }
}
