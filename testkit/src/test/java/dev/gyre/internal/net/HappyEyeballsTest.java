package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Sockets;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;

/// Connecting to a host with several addresses, some of them unreachable: clause N-1.
@On("simulated")
class HappyEyeballsTest {
    private static final int PORT = 8080;
    private static final InetAddress SIX = address("2001:db8::1");
    private static final InetAddress OTHER_SIX = address("2001:db8::2");
    private static final InetAddress FOUR = address("192.0.2.1");
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SimulatedWorld world = SimulatedWorld.seed(7);
    private int descriptorsBefore;

    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void listen() {
        world.listen(PORT);
        descriptorsBefore = world.openDescriptors();
    }

    @AfterEach
    void close() {
        world.close();
    }

    private Promise<Descriptor> connect(Duration timeout, InetAddress... addresses) {
        Promise<Descriptor> promise =
                SocketConnector.connect(
                        world.loop(),
                        InetSocketAddress.createUnresolved("server.test", PORT),
                        SocketSettings.DEFAULTS,
                        timeout,
                        host -> List.of(addresses));
        promise.recover(ignored -> null); // Handled by the test.
        return promise;
    }

    private static Descriptor socketOf(Promise<Descriptor> promise) {
        assertThat(promise.outcome()).isInstanceOf(Outcome.Resolved.class);
        return ((Outcome.Resolved<Descriptor>) promise.outcome()).value();
    }

    private InetAddress peerOf(Descriptor socket) {
        return ((InetSocketAddress) Sockets.peerAddress(world.loop(), socket)).getAddress();
    }

    private void assertOpen(int descriptors) {
        assertThat(world.openDescriptors() - descriptorsBefore)
                .as("sockets opened by the test")
                .isEqualTo(descriptors);
    }

    @Test
    @Clause("N-1")
    void silentFirstAddress_costsAQuarterOfASecondAndNoMore() {
        world.blackhole(SIX);
        Promise<Descriptor> promise = connect(LONG, SIX, FOUR);
        world.advance(Duration.ofMillis(249));
        assertThat(promise.isSettled()).as("before the second attempt starts").isFalse();
        assertOpen(1);
        world.advance(Duration.ofMillis(2));
        try (Descriptor socket = socketOf(promise)) {
            assertThat(peerOf(socket)).isEqualTo(FOUR);
            assertOpen(1);
        }
    }

    @Test
    @Clause("N-1")
    void addressesOfOneFamily_allSilent_doNotHoldUpTheOther() {
        world.blackhole(SIX).blackhole(OTHER_SIX);
        Promise<Descriptor> promise = connect(LONG, SIX, OTHER_SIX, FOUR);
        world.advance(Duration.ofMillis(260));
        try (Descriptor socket = socketOf(promise)) {
            assertThat(peerOf(socket)).as("the second attempt").isEqualTo(FOUR);
            assertOpen(1);
        }
    }

    @Test
    @Clause("N-1")
    void unreachableFirstAddress_costsNoTime() {
        world.unreachable(SIX);
        Promise<Descriptor> promise = connect(LONG, SIX, FOUR);
        world.advance(Duration.ofMillis(1));
        try (Descriptor socket = socketOf(promise)) {
            assertThat(peerOf(socket)).isEqualTo(FOUR);
            assertOpen(1);
        }
    }

    @Test
    @Clause("N-1")
    void slowFirstAddress_stillWinsIfItAnswersFirst() {
        world.latency(Duration.ofMillis(200), Duration.ZERO);
        Promise<Descriptor> promise = connect(LONG, SIX, FOUR);
        world.advance(Duration.ofMillis(300));
        assertOpen(2);
        world.advance(Duration.ofMillis(150));
        try (Descriptor socket = socketOf(promise)) {
            assertThat(peerOf(socket)).isEqualTo(SIX);
            assertOpen(1);
        }
        world.advance(LONG);
        assertOpen(0);
    }

    @Test
    @Clause("N-1")
    void timeout_withAllSilent_namesThemAndLeavesNothingOpen() {
        world.blackhole(SIX).blackhole(FOUR);
        Promise<Descriptor> promise = connect(Duration.ofSeconds(2), SIX, FOUR);
        world.advance(Duration.ofMillis(1_999));
        assertThat(promise.isSettled()).isFalse();
        world.advance(Duration.ofMillis(1));
        assertThat(((Outcome.Rejected<Descriptor>) promise.outcome()).reason())
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining("server.test")
                .hasMessageContaining("within 2 s")
                .hasMessageContaining("192.0.2.1:8080")
                .hasMessageContaining("[2001:db8:0:0:0:0:0:1]:8080");
        assertOpen(0);
    }

    @Test
    @Clause("N-1")
    void noTimeout_withASilentHost_endsWhenTcpGivesUp() {
        world.blackhole(FOUR);
        Promise<Descriptor> promise = connect(Duration.ZERO, FOUR);
        world.advance(Duration.ofSeconds(126));
        assertThat(promise.isSettled()).isFalse();
        world.advance(Duration.ofSeconds(2));
        assertThat(((Outcome.Rejected<Descriptor>) promise.outcome()).reason())
                .hasMessageContaining("ETIMEDOUT")
                .hasMessageContaining("the host does not respond");
        assertOpen(0);
    }

    @Test
    @Clause({"N-1", "E-1"})
    void outOfDescriptors_failsAndSaysWhatToRaise() {
        world.descriptorLimit(3 + descriptorsBefore);
        Promise<Descriptor> promise = connect(LONG, SIX, FOUR);
        world.run();
        assertThat(((Outcome.Rejected<Descriptor>) promise.outcome()).reason())
                .hasMessageContaining("EMFILE")
                .hasMessageContaining("ulimit -n");
    }
}
