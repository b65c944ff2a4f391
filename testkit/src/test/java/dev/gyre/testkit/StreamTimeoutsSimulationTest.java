package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Stream timeouts, exact to the tick. The peers are outside the loop, which waits for them.
@On("simulated")
class StreamTimeoutsSimulationTest {
    private static final Duration TIMEOUT = Duration.ofMillis(120);
    private static final Duration TICK = Duration.ofMillis(1);
    private static final int BUFFERS = 8 << 10;

    private final SimulatedWorld world =
            SimulatedWorld.seed(1)
                    .socketBuffers(BUFFERS)
                    .latency(Duration.ofNanos(1_000), Duration.ZERO);
    private final List<Stream> accepted = new ArrayList<>();
    private CloseReason reason;
    private Duration closedAt;

    @AfterEach
    void closeWorld() {
        world.close();
    }

    private SimulatedPeer connect(StreamConfig config) {
        Listener.on(
                world.loop(),
                new InetSocketAddress(80),
                ListenerConfig.DEFAULT.withStreams(config),
                stream -> {
                    accepted.add(stream);
                    stream.onClose(
                            why -> {
                                reason = why;
                                closedAt = world.elapsed();
                            });
                });
        SimulatedPeer peer = world.connect(80);
        world.run();
        return peer;
    }

    private Stream server() {
        return accepted.getFirst();
    }

    private void assertClosed(CloseReason why, Duration at) {
        assertThat(reason).isEqualTo(why);
        assertThat(closedAt)
                .as("closed at %s, and should have been at %s", closedAt, at)
                .isBetween(at, at.plus(TICK));
    }

    /// The peer reads the bytes available at that moment, and no more.
    private void takeSome(SimulatedPeer peer) {
        peer.onChange(SimulatedPeer::pauseReading).resumeReading();
        world.run();
    }

    // ------------------------------------------------------------------ silence

    @Test
    @Clause("N-5")
    void idle_afterBytesThatTheLoopHadWaitedFor_countsFromTheirArrival() {
        SimulatedPeer peer = connect(StreamConfig.DEFAULT.withIdleTimeout(TIMEOUT));
        server().onData(Buffer::clear);
        world.latency(Duration.ofMillis(100), Duration.ZERO);
        Duration sent = world.elapsed();
        peer.send("x");
        world.advance(Duration.ofMillis(150));
        assertThat(server().isOpen()).as("something came fifty milliseconds ago").isTrue();
        world.advance(TIMEOUT);
        assertClosed(CloseReason.IDLE_TIMEOUT, sent.plusMillis(100).plus(TIMEOUT));
    }

    @Test
    @Clause({"N-5", "X-1"})
    void handshake_ofAPeerThatTheLoopHadWaitedFor_hasItsTime() {
        SimulatedPeer peer = connect(StreamConfig.DEFAULT);
        Tls tls = Tls.selfSigned().withHandshakeTimeout(TIMEOUT);
        server().onData(data -> server().startTls(tls).recover(_ -> null));
        world.latency(Duration.ofMillis(500), Duration.ZERO);
        Duration sent = world.elapsed();
        peer.send("S");
        world.advance(Duration.ofSeconds(2));
        Duration begun = sent.plusMillis(500);
        assertThat(reason).isEqualTo(CloseReason.HANDSHAKE_TIMEOUT);
        assertThat(closedAt)
                .as("it began at %s", begun)
                .isGreaterThanOrEqualTo(begun.plus(TIMEOUT));
    }

    @Test
    @Clause("N-5")
    void write_thatThePeerTookSomeOf_timesOutThatLongAfterwardsAndNotTwice() {
        SimulatedPeer peer = connect(StreamConfig.DEFAULT.withWriteTimeout(TIMEOUT)).pauseReading();
        server().write(new byte[1 << 16]);
        world.advance(Duration.ofMillis(20));
        takeSome(peer);
        Duration taken = world.elapsed();
        assertThat(peer.received()).as("bytes that it took").isNotEmpty();
        world.advance(TIMEOUT.multipliedBy(3));
        assertClosed(CloseReason.WRITE_TIMEOUT, taken.plus(TIMEOUT));
    }

    // ------------------------------------------------------------------ lingering

    @Test
    @Clause({"N-4", "N-5"})
    void close_whoseOutputIsTakenSlowly_lingersAsLongAsSomeIsTaken() {
        SimulatedPeer peer =
                connect(StreamConfig.DEFAULT.withLingerTimeout(TIMEOUT)).pauseReading();
        int bytes = 1 << 16;
        server().write(new byte[bytes]);
        server().close();
        int got = 0;
        for (int i = 0; i < 1_000 && got < bytes; i++) {
            world.advance(Duration.ofMillis(100));
            takeSome(peer);
            got += peer.takeReceived().length;
        }
        assertThat(got).as("what arrived before the stream was %s", reason).isEqualTo(bytes);
        Duration last = world.elapsed();
        world.advance(TIMEOUT.multipliedBy(3));
        assertThat(reason)
                .as("the peer never closed its side")
                .isEqualTo(CloseReason.LINGER_TIMEOUT);
        assertThat(closedAt).isLessThanOrEqualTo(last.plus(TIMEOUT).plus(TICK));
    }

    @Test
    @Clause({"N-3", "N-4", "N-5"})
    void join_whoseTargetTakesItsEndSlowly_deliversAllOfIt() {
        StreamConfig config =
                StreamConfig.DEFAULT
                        .withLingerTimeout(Duration.ofMillis(10))
                        .withWriteTimeout(TIMEOUT);
        SimulatedPeer slow = connect(config).pauseReading();
        SimulatedPeer fast = world.connect(80);
        world.run();
        accepted.get(0).join(accepted.get(1));
        int bytes = 1 << 15;
        fast.send(new byte[bytes]).halfClose();
        slow.halfClose(); // So that the fast side finishes and follows.
        world.run();
        assertThat(accepted.get(1).closeReason()).isEqualTo(CloseReason.ENDED);
        int got = 0;
        for (int i = 0; i < 1_000 && got < bytes; i++) {
            world.advance(Duration.ofMillis(100));
            takeSome(slow);
            got += slow.takeReceived().length;
        }
        assertThat(got).as("what arrived through the pipe").isEqualTo(bytes);
        world.advance(TIMEOUT);
        assertThat(accepted.get(0).closeReason()).isIn(CloseReason.ENDED, CloseReason.CLOSED);
    }

    @Test
    @Clause({"N-3", "N-5"})
    void join_whoseTargetTakesNothingOfItsEnd_endsByTheWriteTimeout() {
        StreamConfig config =
                StreamConfig.DEFAULT
                        .withLingerTimeout(Duration.ofMillis(10))
                        .withWriteTimeout(TIMEOUT);
        SimulatedPeer stuck = connect(config).pauseReading();
        SimulatedPeer fast = world.connect(80);
        world.run();
        accepted.get(0).join(accepted.get(1));
        fast.send(new byte[1 << 15]).halfClose();
        stuck.halfClose();
        world.advance(TIMEOUT.multipliedBy(2));
        assertThat(accepted.get(0).closeReason()).isEqualTo(CloseReason.WRITE_TIMEOUT);
    }
}
