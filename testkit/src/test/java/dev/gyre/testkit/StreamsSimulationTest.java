package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Random programs of streams in random worlds, and exhaustion of the simulated kernel.
@On("simulated")
class StreamsSimulationTest {
    private static final int SEEDS = 150;

    @Test
    @Clause({"N-2", "N-4", "N-6", "B-6"})
    void randomPrograms_inAWorldWithoutFaults_keepTheirPromises() {
        SimulatedWorld.eachSeed(SEEDS, world -> new StreamProgram(world).run());
    }

    @Test
    @Clause({"N-2", "N-4", "N-6", "B-6"})
    void randomPrograms_withFaultsThatNobodyMayNotice_keepTheirPromises() {
        SimulatedWorld.eachSeed(
                SEEDS,
                world -> {
                    StreamProgram program = new StreamProgram(world);
                    world.faults(Faults.harmless()).socketBuffers(1 << 12);
                    program.run();
                });
    }

    @Test
    @Clause({"N-2", "N-4", "N-6", "B-6"})
    void randomPrograms_withAllFaults_keepTheirPromises() {
        SimulatedWorld.eachSeed(
                SEEDS,
                world -> {
                    StreamProgram program = new StreamProgram(world);
                    world.faults(Faults.all());
                    program.run();
                });
    }

    @Test
    @Clause("E-3")
    void descriptors_usedUp_shedOnePeer_serveTheOthers_andGoOnLater() {
        try (SimulatedWorld world = SimulatedWorld.seed(7);
                LogCapture log = new LogCapture()) {
            List<Stream> accepted = new ArrayList<>();
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
            Listener listener =
                    Listener.tcp(
                            world.loop(),
                            address,
                            stream -> {
                                accepted.add(stream);
                                stream.onData(stream::write);
                            });
            world.descriptorLimit(world.openDescriptors() + 20);
            List<SimulatedPeer> peers = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                peers.add(world.connect(80));
            }
            world.advance(Duration.ofMillis(100));
            assertThat(listener.isExhausted()).isTrue();
            int served = accepted.size();
            assertThat(served).isLessThan(30);
            long runs = world.loop().metrics().ticks();
            world.advance(Duration.ofSeconds(3));
            assertThat(world.loop().metrics().ticks() - runs)
                    .as("turns while nothing can be accepted: nothing spins")
                    .isLessThan(40);
            assertThat(listener.shed()).as("shed, one with each try").isBetween(1L, 4L);
            assertThat(world.loop().metrics().connectionsShed()).isEqualTo(listener.shed());
            assertThat(world.loop().metrics().exhaustions()).isEqualTo(1);
            assertThat(listener.refused()).isZero();
            assertThat(log.messages())
                    .as("logged once, with the limit and the remedy")
                    .singleElement()
                    .asString()
                    .contains("has stopped accepting: EMFILE", "ulimit -n");
            assertThat(accepted).hasSize(served);
            peers.stream().filter(SimulatedPeer::isOpen).forEach(peer -> peer.send("served"));
            world.advance(Duration.ofMillis(100));
            assertThat(peers)
                    .filteredOn(peer -> peer.receivedText().equals("served"))
                    .as("who is connected is served on")
                    .hasSize(served);
            for (Stream each : List.copyOf(accepted).subList(0, served / 2)) {
                each.abort();
            }
            world.advance(Duration.ofMillis(100));
            assertThat(accepted.size()).as("accepted after some are gone").isGreaterThan(served);
            assertThat(listener.connections()).isPositive();
            accepted.forEach(Stream::abort);
            world.advance(Duration.ofSeconds(10));
            world.connect(80);
            world.advance(Duration.ofMillis(100));
            assertThat(log.messages()).hasSize(2).last().asString().contains("available again");
            assertThat(world.loop().metrics().exhaustions()).isEqualTo(1);
        }
    }

    @Test
    @Clause("E-3")
    void descriptors_usedUpByOneListener_areReservedForAnother() {
        try (SimulatedWorld world = SimulatedWorld.seed(8);
                LogCapture _ = new LogCapture()) {
            world.descriptorLimit(60);
            List<Stream> served = new ArrayList<>();
            List<Stream> admin = new ArrayList<>();
            InetAddress host = InetAddress.getLoopbackAddress();
            Listener crowded =
                    Listener.tcp(world.loop(), new InetSocketAddress(host, 80), served::add);
            Listener.on(
                    world.loop(),
                    new InetSocketAddress(host, 81),
                    ListenerConfig.DEFAULT.withReservedDescriptors(true),
                    admin::add);
            for (int i = 0; i < 80; i++) {
                world.connect(80);
            }
            world.advance(Duration.ofSeconds(1));
            assertThat(crowded.shed()).isPositive();

            world.connect(81);
            world.connect(81);
            world.advance(Duration.ofSeconds(1));
            assertThat(admin).as("accepted with reserved descriptors").hasSize(2);
        }
    }

    @Test
    @Clause("E-3")
    void memory_nearlyUsedUp_acceptsNobodyNew_andGoesOnLater() {
        try (SimulatedWorld world =
                SimulatedWorld.seed(7, LoopConfig.DEFAULT.withBufferMemory(1 << 20))) {
            List<Stream> accepted = new ArrayList<>();
            Listener.tcp(
                    world.loop(),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 80),
                    accepted::add);
            SimulatedPeer first = world.connect(80);
            world.advance(Duration.ofMillis(100));
            Stream greedy = accepted.getFirst();
            Buffer hoard = Buffer.acquire(world.loop(), 900 << 10);
            assertThat(greedy.isOpen()).isTrue();
            world.connect(80);
            world.connect(80);
            world.connect(80);
            world.advance(Duration.ofMillis(100));
            assertThat(accepted.size()).as("accepted while memory is tight").isLessThanOrEqualTo(2);
            hoard.release();
            world.advance(Duration.ofMillis(100));
            assertThat(accepted).hasSize(4);
            assertThat(first).isNotNull();
        }
    }
}
