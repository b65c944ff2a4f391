package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopGroupConfig.FailureAction;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.tls.Certificates;
import dev.gyre.io.Distribution;
import dev.gyre.io.DrainReport;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/// The contract of group listeners, in the simulated world.
@On("simulated")
class SimulatedGroupListenerTest {
    private static final int PORT = 80;
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final LoopGroupConfig QUIET =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT
                            .withName("group")
                            .withUncaughtHandler((_, _) -> {})
                            .withObserver(new LoopObserver() {}));

    private final SimulatedWorld world = SimulatedWorld.seed(7);
    private final int descriptors = world.openDescriptors();
    private LoopGroup group = world.group(2, QUIET);
    private final List<Stream> served = new ArrayList<>();
    private GroupListener listener;

    @AfterEach
    void closeWorld() {
        group.close();
        assertThat(world.openDescriptors()).isEqualTo(descriptors);
        world.close();
    }

    private static ListenerConfig config(Distribution distribution) {
        return ListenerConfig.DEFAULT.withDistribution(distribution);
    }

    private void listen(ListenerConfig config) {
        listener = Listener.on(group, new InetSocketAddress(PORT), config, this::echo);
        group.start();
    }

    private void echo(Stream stream) {
        served.add(stream);
        stream.onData(stream::write);
    }

    private List<SimulatedPeer> clients(int count) {
        List<SimulatedPeer> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(world.connect(PORT).send("hello"));
        }
        world.advance(SECOND);
        return clients;
    }

    private static void assertEchoed(List<SimulatedPeer> clients) {
        assertThat(clients).extracting(SimulatedPeer::receivedText).containsOnly("hello");
    }

    private Set<EventLoop> servingLoops() {
        Set<EventLoop> loops = new HashSet<>();
        served.forEach(stream -> loops.add(stream.loop()));
        return loops;
    }

    private EventLoop loop(int index) {
        return group.loops().get(index);
    }

    private void fail(EventLoop loop) {
        loop.submit(
                () -> {
                    throw new InternalError("provoked");
                });
        world.advance(SECOND);
        assertThat(group.loops()).doesNotContain(loop);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void connections_ofManyClients_areServedByAllLoops(Distribution distribution) {
        listen(config(distribution));
        assertEchoed(clients(30));
        assertThat(servingLoops()).hasSize(2);
        assertThat(listener.connections()).isEqualTo(30);
        assertThat(listener.accepted()).isEqualTo(30);
        assertThat(listener.connections(loop(0)) + listener.connections(loop(1))).isEqualTo(30);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void port_inUse_isNamedAndNothingStaysOpen(Distribution distribution) {
        listen(config(distribution));
        int open = world.openDescriptors();
        assertThatThrownBy(
                        () ->
                                Listener.on(
                                        group,
                                        new InetSocketAddress(PORT),
                                        config(distribution),
                                        _ -> {}))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EADDRINUSE");
        assertThat(world.openDescriptors()).isEqualTo(open);
    }

    @Test
    @Clause("G-3")
    void limits_belowOne_areRejected() {
        assertThatThrownBy(() -> ListenerConfig.DEFAULT.withMaxConnections(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxConnections");
        assertThatThrownBy(() -> ListenerConfig.DEFAULT.withMaxConnectionsPerPeer(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxConnectionsPerPeer");
        assertThatThrownBy(() -> ListenerConfig.DEFAULT.withDistribution(null))
                .isInstanceOf(NullPointerException.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-3")
    void maxConnections_belowTheNumberOfLoops_holds(Distribution distribution) {
        listen(config(distribution).withMaxConnections(1));
        List<SimulatedPeer> clients = clients(4);
        for (int i = 1; i <= 4; i++) {
            assertThat(served).hasSize(i);
            served.getLast().abort();
            world.advance(SECOND);
        }
        assertThat(clients).allMatch(SimulatedPeer::isReset);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void pause_letsPeersWaitUntilResume(Distribution distribution) {
        listen(config(distribution));
        listener.pause();
        world.advance(SECOND);
        List<SimulatedPeer> clients = clients(6);
        fail(loop(0));
        assertThat(served).isEmpty();
        listener.resume();
        world.advance(SECOND);
        assertEchoed(clients);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void close_refusesNewPeersAndLeavesTheOthers(Distribution distribution) {
        listen(config(distribution));
        List<SimulatedPeer> clients = clients(4);
        listener.close();
        world.advance(SECOND);
        assertThat(world.connect(PORT)).satisfies(late -> assertRefused(late));
        clients.forEach(client -> client.send("!"));
        world.advance(SECOND);
        assertThat(clients).extracting(SimulatedPeer::receivedText).containsOnly("hello!");
    }

    private void assertRefused(SimulatedPeer late) {
        world.advance(SECOND);
        assertThat(late.isRefused()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void drain_resetsTheRestAtTheDeadline(Distribution distribution) {
        listen(config(distribution));
        List<SimulatedPeer> clients = clients(8);
        CompletableFuture<DrainReport> report =
                listener.drain(Duration.ofSeconds(5)).toCompletableFuture();
        clients.subList(0, 5).forEach(SimulatedPeer::close);
        served.forEach(stream -> stream.onEnd(stream::close));
        world.advance(SECOND);
        assertThat(report).isNotDone();
        world.advance(Duration.ofSeconds(5));
        assertThat(report).isCompletedWithValue(new DrainReport(5, 3));
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void drain_onALoopThatFailsMeanwhile_reportsItsConnectionsAsReset(Distribution distribution) {
        listen(config(distribution));
        List<SimulatedPeer> clients = clients(8);
        int lost = listener.connections(loop(0));
        CompletableFuture<DrainReport> report =
                listener.drain(Duration.ofSeconds(60)).toCompletableFuture();
        world.advance(SECOND);
        fail(loop(0));
        clients.forEach(SimulatedPeer::close);
        served.stream()
                .filter(stream -> group.loops().contains(stream.loop()))
                .forEach(stream -> stream.loop().submit(stream::close));
        world.advance(SECOND);
        assertThat(report).isCompletedWithValue(new DrainReport(8 - lost, lost));
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void handler_thatThrows_costsItsConnectionOnly(Distribution distribution) {
        listener =
                Listener.on(
                        group,
                        new InetSocketAddress(PORT),
                        config(distribution),
                        stream -> {
                            echo(stream);
                            if (served.size() % 2 == 0) {
                                throw new IllegalStateException("thrown by a test");
                            }
                        });
        group.start();
        List<SimulatedPeer> clients = clients(10);
        assertThat(clients).filteredOn(SimulatedPeer::isReset).hasSize(5);
        assertThat(listener.connections()).isEqualTo(5);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause({"G-1", "G-2"})
    void loop_failed_losesItsConnectionsOnly(Distribution distribution) {
        listen(config(distribution));
        List<SimulatedPeer> clients = clients(20);
        int lost = listener.connections(loop(0));
        fail(loop(0));
        assertThat(clients).filteredOn(client -> !client.isOpen()).hasSize(lost);
        assertThat(listener.connections()).isEqualTo(20 - lost);
        assertEchoed(clients(20));
        assertThat(listener.connections(loop(0))).isPositive();
    }

    @Test
    @Clause({"G-1", "G-2"})
    void loop_failedInAGroupThatEnds_closesTheListener() {
        group.close();
        group = world.group(2, QUIET.withFailureAction(FailureAction.CLOSE_GROUP));
        listen(ListenerConfig.DEFAULT);
        loop(1).submit(
                        () -> {
                            throw new InternalError("provoked");
                        });
        world.advance(SECOND);
        assertThat(group.isTerminated()).isTrue();
        assertThat(listener.isOpen()).isFalse();
        assertRefused(world.connect(PORT));
    }

    @Test
    @Clause("G-2")
    void unixSocket_isServedByAllLoops() {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of("/tmp/simulated");
        listener = Listener.unix(group, address.getPath(), this::echo);
        group.start();
        List<Stream> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Promise<?> _ = Stream.connect(world.loop(), address).thenAccept(clients::add);
        }
        world.advance(SECOND);
        assertThat(clients).hasSize(4);
        assertThat(servingLoops()).hasSize(2);
        clients.forEach(Stream::abort);
        world.advance(SECOND);
        assertThat(listener.connections()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void tls_onAGroup_isServedByAllLoops(Distribution distribution) throws IOException {
        listen(config(distribution).withTls(Certificates.server()));
        StreamConfig secure = StreamConfig.DEFAULT.withTls(Certificates.client());
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT);
        List<Stream> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Promise<?> _ = Stream.connect(world.loop(), server, secure).thenAccept(clients::add);
        }
        world.advance(SECOND);
        assertThat(clients).hasSize(10);
        assertThat(servingLoops()).hasSize(2);
        clients.forEach(Stream::abort);
        world.advance(SECOND);
    }
}
