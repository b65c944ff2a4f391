package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.Distribution;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// Loops of a group that fail while clients connect, send and leave.
@On("simulated")
class GroupFailureSimulationTest {
    private static final int SEEDS = 60;
    private static final int LOOPS = 3;
    private static final int STEPS = 40;
    private static final Duration STEP = Duration.ofMillis(5);

    private static final LoopGroupConfig CONFIG =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT.withName("failing").withObserver(new LoopObserver() {}));

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause({"G-1", "G-2", "B-6"})
    void failures_costOnlyTheConnectionsOfTheLoop_andRunsRepeat(Distribution distribution) {
        try (LogCapture _ = new LogCapture()) {
            for (long seed = 0; seed < SEEDS; seed++) {
                Trace trace = run(seed, distribution);
                if (seed % 10 == 0) {
                    assertThat(run(seed, distribution)).as("seed %d", seed).isEqualTo(trace);
                }
            }
        }
    }

    private static Trace run(long seed, Distribution distribution) {
        try (SimulatedWorld world = SimulatedWorld.seed(seed)) {
            Random random = new Random(seed);
            LoopGroup group = world.group(LOOPS, CONFIG);
            Map<Integer, EventLoop> servedBy = new HashMap<>();
            GroupListener listener =
                    Listener.on(
                            group,
                            new InetSocketAddress(80),
                            ListenerConfig.DEFAULT.withDistribution(distribution),
                            stream -> echo(stream, servedBy));
            group.start();
            Map<Integer, SimulatedPeer> clients = new HashMap<>();
            List<EventLoop> failed = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                if (random.nextInt(10) == 0 && failed.size() < 4) {
                    EventLoop loop = group.loops().get(random.nextInt(LOOPS));
                    failed.add(loop);
                    loop.submit(
                            () -> {
                                throw new InternalError("provoked");
                            });
                } else {
                    clients.put(step, world.connect(80).send("%03d".formatted(step)));
                }
                world.advance(STEP);
            }
            world.run();
            clients.forEach((id, client) -> check(id, client, servedBy.get(id), failed));
            long open = clients.values().stream().filter(SimulatedPeer::isOpen).count();
            assertThat(listener.connections()).isEqualTo((int) open);
            var outcome = group.shutdown(Duration.ZERO).toCompletableFuture();
            world.run();
            assertThat(outcome.join().failures()).hasSize(failed.size());
            assertThat(world.openDescriptors()).as("descriptors").isZero();
            return world.trace();
        }
    }

    private static void echo(Stream stream, Map<Integer, EventLoop> servedBy) {
        stream.onData(
                data -> {
                    String text = data.getText(US_ASCII);
                    EventLoop before = servedBy.put(Integer.valueOf(text), stream.loop());
                    assertThat(before).as("served twice: %s", text).isNull();
                    stream.write(text);
                });
    }

    private static void check(
            int id, SimulatedPeer client, EventLoop loop, List<EventLoop> failed) {
        if (client.isOpen()) {
            assertThat(loop).as("client %d is served", id).isNotNull();
            assertThat(client.receivedText()).isEqualTo("%03d".formatted(id));
            assertThat(failed).as("client %d", id).doesNotContain(loop);
        } else if (loop != null) {
            assertThat(failed).as("client %d was reset by its loop only", id).contains(loop);
        }
    }
}
