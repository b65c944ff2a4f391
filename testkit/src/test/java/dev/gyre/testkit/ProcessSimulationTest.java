package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.BoundedExecutor;
import dev.gyre.Clause;
import dev.gyre.LoopGroup;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.Listener;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A full pool pushes back into its streams, and into no others.
@On("simulated")
class ProcessSimulationTest {
    private static final int STREAMS = 12;
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    @Clause("G-5")
    void fullPool_stallsItsStreamsAndServesThemInTurn() {
        SimulatedWorld.eachSeed(20, ProcessSimulationTest::stall);
    }

    private static void stall(SimulatedWorld world) {
        LoopGroup group = world.group(2);
        BoundedExecutor pool = BoundedExecutor.bounded(world.loop().config().executor(), 2, 3);
        List<String> begun = new ArrayList<>();
        Listener.tcp(group, new InetSocketAddress(80), stream -> stream.onData(stream::write));
        Listener.tcp(
                group,
                new InetSocketAddress(81),
                stream ->
                        stream.onData(
                                data -> {
                                    String text = data.getText(US_ASCII);
                                    Promise<?> slow = Promise.delay(stream.loop(), SECOND);
                                    stream.process(
                                                    pool,
                                                    _ -> {
                                                        begun.add(text.substring(0, 3));
                                                        slow.await();
                                                        return text.length();
                                                    })
                                            .thenAccept(length -> stream.write(length + "\n"));
                                }));
        group.start();
        List<SimulatedPeer> peers = new ArrayList<>();
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            String name = "%03d".formatted(i);
            sent.add(name);
            peers.add(world.connect(81).send(name));
            world.run();
        }
        assertThat(pool.running()).isEqualTo(2);
        assertThat(pool.waiting()).as("more than the limit").isEqualTo(STREAMS - 2);
        byte[] flood = new byte[1 << 20];
        peers.getFirst().send(flood);
        SimulatedPeer other = world.connect(80).send("hello");
        world.run();
        assertThat(other.receivedText()).as("not of the pool").isEqualTo("hello");
        assertThat(peers.getFirst().unsentBytes()).as("pushback").isPositive();
        peers.get(5).reset();
        world.run();
        assertThat(pool.waiting()).isEqualTo(STREAMS - 3);
        world.advance(Duration.ofMinutes(5));
        sent.remove(5);
        assertThat(begun.subList(0, STREAMS - 1)).containsExactlyElementsOf(sent);
        for (int i = 0; i < STREAMS; i++) {
            if (i != 5) {
                assertThat(peers.get(i).receivedText()).startsWith("3\n");
            }
        }
        assertThat(peers.getFirst().unsentBytes()).isZero();
        assertThat(pool.rejected()).isZero();
        assertThat(pool.waiting() + pool.running()).isZero();
    }
}
