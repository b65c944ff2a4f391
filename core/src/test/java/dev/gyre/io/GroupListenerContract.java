package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig.FailureAction;
import dev.gyre.Reachability;
import dev.gyre.SystemCallException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/// Tests listeners of groups, on every backend.
abstract class GroupListenerContract extends GroupFixture {
    private static ListenerConfig config(Distribution distribution) {
        return ListenerConfig.DEFAULT.withDistribution(distribution);
    }

    private List<Socket> exchangeOnNewClients(int count) throws IOException {
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Socket client = connect();
            exchange(client, "hello");
            clients.add(client);
        }
        return clients;
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void connections_ofManyClients_areServedByAllLoops(Distribution distribution)
            throws IOException {
        listen(config(distribution));
        List<Socket> clients = exchangeOnNewClients(60);
        assertThat(served).hasSize(2);
        assertThat(listener.connections()).isEqualTo(60);
        assertThat(listener.accepted()).isEqualTo(60);
        assertThat(listener.connections(loop(0)) + listener.connections(loop(1))).isEqualTo(60);
        for (Socket client : clients) {
            client.close();
        }
        await("all are closed", () -> listener.connections() == 0);
        assertThat(listener.accepted()).isEqualTo(60);
    }

    @Test
    @Clause("G-2")
    void leastConnections_withLongLivedClients_keepsTheLoopsEqual() throws IOException {
        listen(config(Distribution.LEAST_CONNECTIONS));
        exchangeOnNewClients(40);
        assertThat(listener.connections(loop(0))).isEqualTo(20);
        assertThat(listener.connections(loop(1))).isEqualTo(20);
    }

    @Test
    @Clause("G-2")
    void leastConnections_withALoopThatDoesNotRun_servesFurtherClientsOnAnother() throws Exception {
        listen(config(Distribution.LEAST_CONNECTIONS));
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        loop(1).submit(
                        () -> {
                            blocked.countDown();
                            awaitUninterrupted(released);
                        });
        blocked.await();
        List<Socket> clients = new ArrayList<>();
        try {
            while (listener.connections(loop(0)) < 1_200) {
                clients.add(connect());
                await("it is accepted", () -> listener.connections() == clients.size());
            }
            assertThat(listener.connections(loop(1))).isEqualTo(1_024);
            exchange(clients.getLast(), "served meanwhile");
            assertThat(served).hasSize(1);
        } finally {
            released.countDown(); // The group could not close a blocked loop.
        }
        for (Socket client : clients) {
            exchange(client, "later");
        }
        assertThat(totalServed()).isEqualTo(clients.size());
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError("a test does not interrupt loops", e);
        }
    }

    @Test
    @Clause("G-2")
    void leastConnections_withAHandlerThatThrowsAfterAHandOver_losesThatConnectionOnly()
            throws IOException {
        listener =
                Listener.on(
                        group,
                        anyPort(),
                        config(Distribution.LEAST_CONNECTIONS),
                        stream -> {
                            echo(stream);
                            if (stream.loop().equals(loop(1)) && totalServed() == 2) {
                                throw new IllegalStateException("thrown by a test");
                            }
                        });
        group.start();
        exchangeOnNewClients(1);
        Socket second = connect();
        assertThatThrownBy(() -> exchange(second, "lost"))
                .isInstanceOfAny(IOException.class, AssertionError.class);
        await("the failure is counted", () -> loop(1).metrics().failures() == 1);
        exchangeOnNewClients(3);
        assertThat(listener.connections()).isEqualTo(4);
    }

    @Test
    @Clause("G-2")
    void kernelByCpu_servesEveryConnection() throws IOException {
        listen(config(Distribution.REUSE_PORT_BY_CPU));
        exchangeOnNewClients(20);
        assertThat(listener.connections()).isEqualTo(20);
        fail(loop(0));
        fail(loop(1));
        await("both are replaced", () -> listener.connections() == 0);
        exchangeOnNewClients(20);
    }

    @Test
    @Clause("G-2")
    void kernelByCpu_onASharedAddressOrAUnixSocket_isRejected(@TempDir Path directory) {
        ListenerConfig config = config(Distribution.REUSE_PORT_BY_CPU);
        assertThatThrownBy(
                        () ->
                                Listener.on(
                                        group,
                                        anyPort(),
                                        config.withPortSharing(PortSharing.SHARED),
                                        _ -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PortSharing.SHARED");
        UnixDomainSocketAddress unix = UnixDomainSocketAddress.of(directory.resolve("socket"));
        assertThatThrownBy(() -> Listener.on(group, unix, config, _ -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Distribution.REUSE_PORT");
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void port_zero_isTheSameOnAllLoops(Distribution distribution) {
        listen(config(distribution));
        assertThat(((InetSocketAddress) listener.address()).getPort()).isPositive();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void port_inUse_isNamedAndNoLoopListens(Distribution distribution) {
        listen(config(distribution));
        InetSocketAddress taken = (InetSocketAddress) listener.address();
        assertThatThrownBy(() -> Listener.on(group, taken, config(distribution), _ -> {}))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EADDRINUSE")
                .hasMessageContaining(Integer.toString(taken.getPort()));
        listener.close();
        await("it is closed", () -> isFree(taken));
    }

    private static boolean isFree(InetSocketAddress address) {
        try (Socket probe = new Socket()) {
            probe.connect(address);
            return false;
        } catch (ConnectException e) {
            return true;
        } catch (IOException e) {
            return false; // Reset in the backlog, while the socket was being closed.
        }
    }

    @Test
    @Clause("G-2")
    void address_unresolved_isRejected() {
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nowhere.invalid", 80);
        assertThatThrownBy(() -> Listener.tcp(group, unresolved, _ -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nowhere.invalid");
    }

    @Test
    @Clause("G-2")
    void listener_openedOnALoopThread_isRejected() {
        group.start();
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        loop(1).submit(
                        () -> {
                            try {
                                Listener.tcp(group, anyPort(), _ -> {});
                                thrown.complete(null);
                            } catch (RuntimeException e) {
                                thrown.complete(e);
                            }
                        });
        assertThat(thrown.join())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("group-1");
    }

    @Test
    @Clause("G-2")
    void unixSocket_isServedByAllLoopsAndRemovedAtTheEnd(@TempDir Path directory)
            throws IOException {
        Path path = directory.resolve("socket");
        listener = Listener.unix(group, path, this::echo);
        group.start();
        List<SocketChannel> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path));
            clients.add(client);
            client.write(ByteBuffer.wrap(new byte[] {42}));
            ByteBuffer back = ByteBuffer.allocate(1);
            assertThat(client.read(back)).isOne();
        }
        assertThat(served).hasSize(2);
        for (SocketChannel client : clients) {
            client.close();
        }
        fail(loop(0));
        await("it is replaced", () -> group.loops().getFirst().metrics().ticks() > 0);
        assertThat(path).exists();
        listener.close();
        assertThat(Files.exists(path)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void pause_letsPeersWaitUntilResume(Distribution distribution) throws IOException {
        listen(config(distribution));
        listener.pause();
        group.forEach(_ -> {}); // After the pause, in the same lanes or later.
        group.forEach(_ -> {});
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            clients.add(connect());
        }
        group.forEach(_ -> {});
        assertThat(totalServed()).isZero();
        listener.resume();
        for (Socket client : clients) {
            exchange(client, "resumed");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void close_refusesNewPeersAndLeavesTheOthers(Distribution distribution) throws IOException {
        listen(config(distribution));
        List<Socket> clients = exchangeOnNewClients(4);
        listener.close();
        listener.close();
        assertThat(listener.isOpen()).isFalse();
        await("closed on all loops", () -> isFree((InetSocketAddress) listener.address()));
        for (Socket client : clients) {
            exchange(client, "still here");
        }
        assertThat(listener.connections()).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void drain_reportsTheConnectionsOfAllLoops(Distribution distribution) throws Exception {
        listen(config(distribution));
        List<Socket> clients = exchangeOnNewClients(10);
        CompletableFuture<DrainReport> report =
                listener.drain(Duration.ofSeconds(60)).toCompletableFuture();
        for (Socket client : clients.subList(0, 7)) {
            client.close();
        }
        await("seven have finished", () -> listener.connections() == 3);
        assertThat(report).isNotDone();
        assertThat(listener.drain(Duration.ZERO).toCompletableFuture().get())
                .isEqualTo(new DrainReport(7, 3));
        assertThat(report.get()).isEqualTo(new DrainReport(7, 3));
        assertThat(listener.isOpen()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause({"G-1", "G-2"})
    void shutdown_ofTheGroup_drainsTheListener(Distribution distribution) throws Exception {
        listen(config(distribution));
        Socket client = exchangeOnNewClients(1).getFirst();
        var report = group.shutdown(Duration.ofSeconds(60)).toCompletableFuture();
        await("it is closed", () -> !listener.isOpen());
        exchange(client, "finishing");
        client.close();
        assertThat(report.get().isGraceful()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void close_ofTheGroup_closesTheListener(Distribution distribution) {
        listen(config(distribution));
        group.close();
        assertThat(listener.isOpen()).isFalse();
        assertThat(isFree((InetSocketAddress) listener.address())).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void handler_thatThrows_costsItsConnectionOnly(Distribution distribution) throws IOException {
        listener =
                Listener.on(
                        group,
                        anyPort(),
                        config(distribution),
                        stream -> {
                            echo(stream);
                            if (totalServed() == 1) {
                                throw new IllegalStateException("thrown by a test");
                            }
                        });
        group.start();
        Socket first = connect();
        assertThatThrownBy(() -> exchange(first, "lost"))
                .isInstanceOfAny(IOException.class, AssertionError.class);
        exchangeOnNewClients(4);
        assertThat(listener.connections()).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause({"G-1", "G-2"})
    void loop_failed_losesItsConnectionsOnly(Distribution distribution) throws IOException {
        listen(config(distribution));
        exchangeOnNewClients(20);
        EventLoop failing = loop(0);
        int lost = listener.connections(failing);
        int kept = listener.connections(loop(1));
        fail(failing);
        await("it is replaced", () -> !loop(0).equals(failing));
        await("its connections are gone", () -> listener.connections() == kept);
        exchangeOnNewClients(20);
        assertThat(listener.connections()).isEqualTo(kept + 20);
        assertThat(listener.connections(loop(0))).isPositive();
        assertThat(listener.accepted()).isEqualTo(40);
        assertThat(lost + kept).isEqualTo(20);
        assertThatThrownBy(() -> listener.connections(failing))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("group-0");
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause({"G-1", "G-2"})
    void clients_waitingInTheBacklogOfALoopThatFails_areServedByTheNextOne(
            Distribution distribution) throws Exception {
        listen(config(distribution));
        listener.pause();
        group.forEach(_ -> {});
        group.forEach(_ -> {});
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            clients.add(connect());
        }
        for (EventLoop each : group.loops()) {
            fail(each);
            await("it is replaced", () -> !group.loops().contains(each));
        }
        assertThat(totalServed()).isZero();
        listener.resume();
        for (Socket client : clients) {
            exchange(client, "served");
        }
    }

    @Test
    @Clause({"G-1", "G-2"})
    void loop_failedInAGroupThatEnds_closesTheListener() throws Exception {
        open(2, config().withFailureAction(FailureAction.CLOSE_GROUP));
        listen(ListenerConfig.DEFAULT);
        fail(loop(1));
        group.await();
        assertThat(listener.isOpen()).isFalse();
        assertThat(isFree((InetSocketAddress) listener.address())).isTrue();
    }

    @Test
    @Clause("G-2")
    void listener_closed_isNotReferencedByItsGroup() {
        group.start();
        Reachability closed =
                Reachability.of(
                        () -> {
                            GroupListener opened = Listener.tcp(group, anyPort(), _ -> {});
                            opened.close();
                            return opened;
                        });
        group.forEach(_ -> {});
        group.forEach(_ -> {});
        closed.assertLost("a closed listener");
    }

    @Test
    @Clause("G-2")
    void group_ofOneLoop_listens() throws IOException {
        open(1, config());
        listen(ListenerConfig.DEFAULT);
        exchangeOnNewClients(3);
        assertThat(listener.connections()).isEqualTo(3);
    }

    @Test
    @Clause("G-2")
    void listener_ofAGroupThatHasEnded_isRejected() {
        LoopGroup ended = group;
        ended.close();
        assertThatThrownBy(() -> Listener.tcp(ended, anyPort(), _ -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("open a new group");
    }

    @Test
    @Clause({"G-1", "G-2"})
    void listener_ofAGroupThatShutsDown_isRejected() {
        group.start();
        group.onShutdown(_ -> new CompletableFuture<>());
        var _ = group.shutdown(Duration.ofSeconds(60));
        assertThatThrownBy(() -> Listener.tcp(group, anyPort(), _ -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("shutting down");
    }

    @Test
    @Clause({"G-1", "G-2"})
    void listener_ofAGroupThatShutsDownMeanwhile_isRejectedAndClosed() throws Exception {
        group.start();
        group.onShutdown(_ -> new CompletableFuture<>());
        CountDownLatch release = new CountDownLatch(1);
        loop(1).submit(
                        () -> {
                            try {
                                release.await();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        });
        CompletableFuture<GroupListener> opened = new CompletableFuture<>();
        InetSocketAddress address = freePort();
        Thread opening =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    try {
                                        opened.complete(Listener.tcp(group, address, _ -> {}));
                                    } catch (RuntimeException e) {
                                        opened.completeExceptionally(e);
                                    }
                                });
        await("it waits for loop 1", () -> opening.getState() == Thread.State.WAITING);
        var _ = group.shutdown(Duration.ofSeconds(60));
        release.countDown();
        assertThat(opened)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IllegalStateException.class)
                .withMessageContaining("shutting down");
        await("the port is free", () -> isFree(address));
    }

    private static InetSocketAddress freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(anyPort());
            return (InetSocketAddress) socket.getLocalSocketAddress();
        }
    }
}
