package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.ShutdownReport;
import dev.gyre.conformance.On;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A graceful shutdown of a loop whose streams are joined, in virtual time.
@On("simulated")
class StreamShutdownSimulationTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final SimulatedWorld world = SimulatedWorld.seed(5);
    private final EventLoop loop = world.loop();
    private SimulatedPeer origin;
    private SimulatedPeer client;
    private Duration endedAt;

    @BeforeEach
    void join() {
        List<Stream> accepted = new ArrayList<>();
        Listener.tcp(loop, new InetSocketAddress(80), accepted::add);
        origin = world.connect(80);
        world.run();
        client = world.connect(80);
        world.run();
        accepted.get(0).join(accepted.get(1));
        origin.send("first ");
        world.run();
        assertThat(client.receivedText()).isEqualTo("first ");
    }

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    @Clause({"S-1", "N-4"})
    void shutdown_ofJoinedStreams_waitsForTheirEndAndNoLonger() {
        world.latency(Duration.ofSeconds(10), Duration.ZERO);
        origin.send("second").halfClose();
        client.halfClose();
        ShutdownReport report = shutDown();
        assertThat(report.graceful()).as("%s", report).isTrue();
        assertThat(endedAt).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(11));
        assertThat(client.receivedText()).isEqualTo("first second");
        assertThat(client.isReset()).as("%s", client).isFalse();
        assertThat(client.isEnded()).as("%s", client).isTrue();
    }

    @Test
    @Clause({"S-2", "N-4"})
    void shutdown_ofJoinedStreamsThatDoNotEnd_resetsThemAtTheDeadline() {
        ShutdownReport report = shutDown();
        assertThat(report.graceful()).as("%s", report).isFalse();
        assertThat(endedAt).isBetween(DEADLINE, DEADLINE.plusSeconds(1));
        assertThat(client.isReset()).as("%s", client).isTrue();
        assertThat(origin.isReset()).as("%s", origin).isTrue();
    }

    private ShutdownReport shutDown() {
        List<ShutdownReport> reports = new ArrayList<>();
        Duration begun = world.elapsed();
        loop.submit(
                () ->
                        loop.shutdown(DEADLINE)
                                .thenAccept(
                                        report -> {
                                            endedAt = world.elapsed().minus(begun);
                                            reports.add(report);
                                        }));
        world.advance(DEADLINE.multipliedBy(2));
        assertThat(reports).hasSize(1);
        return reports.getFirst();
    }
}
