package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.KeepAlive;
import dev.gyre.io.OperationFixture;
import dev.gyre.io.PortSharing;
import dev.gyre.io.Resolver;
import dev.gyre.io.SocketOptions;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Connecting and listening on any kernel: clause N-1.
public abstract class ConnectContract extends OperationFixture {
    private static final Duration LONG = Duration.ofSeconds(8);
    private static final String ONE = "127.0.0.1";
    private static final String SIX = "::1";

    @TempDir Path directory;

    private final List<Descriptor> opened = new ArrayList<>();

    /// Counts the open descriptors of the loop's kernel.
    protected long openDescriptors(EventLoop of) {
        return OpenDescriptors.count();
    }

    private SyscallFactories seam() {
        return Loop.of(loop).operations().syscalls();
    }

    private static InetAddress host(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private Descriptor listen(String host) {
        return listen(new InetSocketAddress(host(host), 0), SocketSettings.DEFAULTS);
    }

    private Descriptor listen(SocketAddress address, SocketSettings options) {
        Descriptor listener = options.listen(seam(), address);
        opened.add(listener);
        return listener;
    }

    private int portOf(Descriptor listener) {
        return ((InetSocketAddress) Sockets.localAddress(loop, listener)).getPort();
    }

    /// A port that was in use until now and has no listener.
    private int closedPort() {
        try (Descriptor listener = SocketSettings.DEFAULTS.listen(seam(), anyPort())) {
            return portOf(listener);
        }
    }

    private <T> Outcome<T> settled(Promise<T> promise) {
        promise.recover(ignored -> null); // Handled by the test.
        runUntil("the promise is settled", promise::isSettled);
        return promise.outcome();
    }

    private Throwable rejection(Promise<Descriptor> promise) {
        Outcome<Descriptor> outcome = settled(promise);
        assertThat(outcome).as("a rejection").isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<Descriptor>) outcome).reason();
    }

    private Descriptor connected(Promise<Descriptor> promise) {
        Outcome<Descriptor> outcome = settled(promise);
        assertThat(outcome).as("a connection").isInstanceOf(Outcome.Resolved.class);
        Descriptor socket = ((Outcome.Resolved<Descriptor>) outcome).value();
        opened.add(socket);
        return socket;
    }

    private Promise<Descriptor> connect(SocketAddress to) {
        return SocketConnector.connect(loop, to, SocketSettings.DEFAULTS, LONG, Resolver.system());
    }

    private Promise<Descriptor> connectByName(int port, Resolver resolver) {
        return SocketConnector.connect(
                loop,
                InetSocketAddress.createUnresolved("server.test", port),
                SocketSettings.DEFAULTS,
                LONG,
                resolver);
    }

    private Descriptor accepted(Descriptor listener) {
        AcceptOperation accept = operations.accept(listener, op -> opened.add(op.accepted()));
        accept.start();
        runUntilDone(accept);
        assertThat(accept.result()).as("accepting: %s", accept.failure()).isNotNegative();
        return opened.getLast();
    }

    private void echoOver(Descriptor client, Descriptor listener) {
        Descriptor server = accepted(listener);
        send(client, "ping");
        assertThat(receive(server)).isEqualTo("ping");
    }

    // ------------------------------------------------------------------ addresses

    @Test
    @Clause("N-1")
    void connect_toIpv4AndIpv6_promisesASocketThatWorks() {
        for (String host : List.of(ONE, SIX)) {
            Descriptor listener = listen(host);
            echoOver(connected(connect(Sockets.localAddress(loop, listener))), listener);
        }
    }

    @Test
    @Clause("N-1")
    void connect_toAUnixPath_promisesASocketThatWorks() {
        SocketAddress path = UnixDomainSocketAddress.of(directory.resolve("socket"));
        Descriptor listener = listen(path, SocketSettings.DEFAULTS);
        echoOver(connected(connect(path)), listener);
    }

    @Test
    @Clause({"N-1", "E-1"})
    void connect_whereNobodyListens_namesTheAddressAndWhatToDo() {
        int port = closedPort();
        long before = openDescriptors(loop);
        Throwable reason = rejection(connect(new InetSocketAddress(host(ONE), port)));
        assertThat(reason)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("127.0.0.1:" + port)
                .hasMessageContaining("ECONNREFUSED")
                .hasMessageContaining("no program listens there");
        settle();
        assertThat(openDescriptors(loop)).as("descriptors left open").isLessThanOrEqualTo(before);
    }

    @Test
    @Clause({"N-1", "E-1"})
    void connect_toAPathThatIsMissing_namesItAndWhatToDo() {
        Path missing = directory.resolve("missing");
        Throwable reason = rejection(connect(UnixDomainSocketAddress.of(missing)));
        assertThat(reason)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining(missing.toString())
                .hasMessageContaining("ENOENT")
                .hasMessageContaining("the socket does not exist");
    }

    @Test
    @Clause("N-1")
    void connect_unanswered_timesOutAndLeavesNothingOpen() {
        // With a full backlog, a listener accepts no more connections.
        Descriptor listener =
                listen(
                        anyPort(),
                        new SocketSettings(SocketOptions.DEFAULT, PortSharing.EXCLUSIVE, 1));
        SocketAddress full = Sockets.localAddress(loop, listener);
        Throwable late = null;
        for (int i = 0; i < 8 && late == null; i++) {
            long before = openDescriptors(loop);
            Promise<Descriptor> attempt =
                    SocketConnector.connect(
                            loop,
                            full,
                            SocketSettings.DEFAULTS,
                            Duration.ofMillis(100),
                            Resolver.system());
            if (settled(attempt) instanceof Outcome.Rejected<Descriptor> rejected) {
                late = rejected.reason();
                assertThat(openDescriptors(loop)).as("left open").isLessThanOrEqualTo(before);
            } else {
                connected(attempt);
            }
        }
        assertThat(late)
                .as("the outcome of more attempts than the backlog holds")
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining(full.toString())
                .hasMessageContaining("100 ms");
    }

    @Test
    @Clause("N-1")
    void connect_whenTheLoopEnds_leavesNothingOpen() {
        Descriptor listener = listen(ONE);
        SocketAddress address = Sockets.localAddress(loop, listener);
        EventLoop other = open(config());
        long before = openDescriptors(other);
        Promise<Descriptor> promise =
                SocketConnector.connect(
                        other, address, SocketSettings.DEFAULTS, LONG, Resolver.system());
        assertThat(openDescriptors(other)).isLessThanOrEqualTo(before + 1);
        other.close();
        assertThat(promise.isSettled()).as("rejected by the loop's end").isTrue();
        assertThat(openDescriptors(other)).as("descriptors left open").isLessThan(before + 1);
    }

    @Test
    @Clause({"N-1", "E-2"})
    void connect_toWhatIsNoAddress_throwsAtOnceAndNamesIt() {
        assertThatThrownBy(() -> connect(new InetSocketAddress(host(ONE), 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("127.0.0.1:0");
        String tooLong = "/tmp/" + "x".repeat(120);
        assertThatThrownBy(() -> connect(UnixDomainSocketAddress.of(tooLong)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 107 bytes")
                .hasMessageContaining(tooLong);
        assertThatThrownBy(() -> connect(new SocketAddress() {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("neither an internet nor a Unix domain address");
        assertThatThrownBy(
                        () ->
                                SocketConnector.connect(
                                        loop,
                                        new InetSocketAddress(host(ONE), 1),
                                        SocketSettings.DEFAULTS,
                                        Duration.ofMillis(-1),
                                        Resolver.system()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1 ms");
    }

    // ------------------------------------------------------------------ names

    @Test
    @Clause("N-1")
    void connect_byName_goesOnWithTheNextAddressWhenOneRefuses() {
        Descriptor listener = listen(ONE);
        long before = openDescriptors(loop);
        Promise<Descriptor> promise =
                connectByName(portOf(listener), name -> List.of(host(SIX), host(ONE)));
        Descriptor client = connected(promise);
        echoOver(client, listener);
        assertThat(openDescriptors(loop))
                .as("the connection, its other end, and nothing of the first attempt")
                .isEqualTo(before + 2);
    }

    @Test
    @Clause({"N-1", "E-1"})
    void connect_byNameWithAllRefusing_listsEachWithItsReason() {
        int port = closedPort();
        Throwable reason = rejection(connectByName(port, name -> List.of(host(SIX), host(ONE))));
        assertThat(reason)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("server.test")
                .hasMessageContaining("any of the 2 addresses")
                .hasMessageContaining("127.0.0.1:" + port + ": ECONNREFUSED")
                .hasMessageContaining("]:" + port + ": ECONNREFUSED");
        assertThat(reason.getCause())
                .as("the first failure")
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("0:0:0:0:0:0:0:1");
    }

    @Test
    @Clause("N-1")
    void connect_byNameThatNobodyKnows_failsAsTheResolverSays() {
        Throwable unknown =
                rejection(
                        connectByName(
                                80,
                                name -> {
                                    throw new UnknownHostException(name + ": no such name");
                                }));
        assertThat(unknown)
                .isInstanceOf(UnknownHostException.class)
                .hasMessage("server.test: no such name");
        assertThat(rejection(connectByName(80, name -> List.of())))
                .isInstanceOf(UnknownHostException.class)
                .hasMessageContaining("server.test");
    }

    // ------------------------------------------------------------------ options

    private int valueOf(SocketOption option, Descriptor socket) {
        return option.get(seam(), (OpenDescriptor) socket);
    }

    @Test
    @Clause("N-1")
    void options_areThoseOfTheListenerAndOfWhatItAccepts() {
        KeepAlive keepAlive = new KeepAlive(Duration.ofSeconds(60), Duration.ofSeconds(7), 5);
        SocketSettings options =
                SocketSettings.of(
                        SocketOptions.DEFAULT
                                .withKeepAlive(keepAlive)
                                .withBuffers(30_000, 20_000)
                                .withUserTimeout(Duration.ofSeconds(9)));
        Descriptor listener = listen(anyPort(), options);
        SocketAddress address = Sockets.localAddress(loop, listener);
        Descriptor client =
                connected(SocketConnector.connect(loop, address, options, LONG, Resolver.system()));
        for (Descriptor socket : List.of(client, accepted(listener))) {
            assertThat(valueOf(SocketOption.TCP_NODELAY, socket)).isNotZero();
            assertThat(valueOf(SocketOption.SO_KEEPALIVE, socket)).isEqualTo(1);
            assertThat(valueOf(SocketOption.TCP_KEEPIDLE, socket)).isEqualTo(60);
            assertThat(valueOf(SocketOption.TCP_KEEPINTVL, socket)).isEqualTo(7);
            assertThat(valueOf(SocketOption.TCP_KEEPCNT, socket)).isEqualTo(5);
            assertThat(valueOf(SocketOption.TCP_USER_TIMEOUT, socket)).isEqualTo(9_000);
            assertThat(valueOf(SocketOption.SO_SNDBUF, socket)).isEqualTo(40_000);
            assertThat(valueOf(SocketOption.SO_RCVBUF, socket)).isEqualTo(60_000);
        }
    }

    @Test
    @Clause({"N-1", "E-1"})
    void option_thatTheKernelRefuses_isNamedWithItsValue() {
        Descriptor[] pair = pair().toArray(Descriptor[]::new);
        assertThatThrownBy(() -> SocketOption.TCP_KEEPCNT.set(seam(), (OpenDescriptor) pair[0], 5))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("TCP_KEEPCNT to 5")
                .hasMessageContaining("EOPNOTSUPP");
    }

    @Test
    @Clause("N-1")
    void resetOnClose_isSeenByThePeerAsAReset() {
        Descriptor listener = listen(ONE);
        Descriptor client = connected(connect(Sockets.localAddress(loop, listener)));
        Descriptor server = accepted(listener);
        SocketOption.resetOnClose(seam(), (OpenDescriptor) client);
        client.close();
        Operation read = operations.read(server, Buffer.allocate(16), op -> {});
        read.start();
        runUntilDone(read);
        assertThat(read.result()).isEqualTo(-Errno.ECONNRESET);
    }

    @Test
    @Clause("N-1")
    void listen_onAllAddresses_hearsOfIpv4AndIpv6() {
        Descriptor listener =
                listen(new InetSocketAddress(host("0.0.0.0"), 0), SocketSettings.DEFAULTS);
        for (String host : List.of(ONE, SIX)) {
            SocketAddress address = new InetSocketAddress(host(host), portOf(listener));
            echoOver(connected(connect(address)), listener);
        }
    }

    @Test
    @Clause("N-1")
    void listen_joined_sharesThePort() {
        Descriptor first = listen(anyPort(), sharing(PortSharing.SHARED));
        Descriptor second = listen(Sockets.localAddress(loop, first), sharing(PortSharing.SHARED));
        assertThat(portOf(second)).isEqualTo(portOf(first));
    }

    @Test
    @Clause("N-1")
    void listen_asTheFirst_letsOthersJoin_andNobodyElse() {
        Descriptor first = listen(anyPort(), sharing(PortSharing.SHARED_FIRST));
        SocketAddress address = Sockets.localAddress(loop, first);
        Descriptor second = listen(address, sharing(PortSharing.SHARED));
        assertThat(portOf(second)).isEqualTo(portOf(first));
        for (PortSharing other : List.of(PortSharing.SHARED_FIRST, PortSharing.EXCLUSIVE)) {
            assertThatThrownBy(() -> listen(address, sharing(other)))
                    .as("listening %s where others share the port", other)
                    .hasMessageContaining("EADDRINUSE");
        }
        // The kernel distributes connections over both listeners.
        Set<Descriptor> heard = new HashSet<>();
        for (Descriptor listener : List.of(first, second)) {
            operations
                    .accept(
                            listener,
                            op -> {
                                if (op.result() >= 0) { // the test may have ended
                                    opened.add(op.accepted());
                                    heard.add(listener);
                                    op.start();
                                }
                            })
                    .start();
        }
        for (int i = 0; i < 64 && heard.size() < 2; i++) {
            connected(connect(address));
        }
        assertThat(heard).as("listeners that accepted one of 64 connections").hasSize(2);
    }

    private static SocketSettings sharing(PortSharing sharing) {
        return new SocketSettings(SocketOptions.DEFAULT, sharing, 16);
    }

    @Test
    @Clause({"N-1", "E-1"})
    void listen_onATakenPort_namesItAndWhatToDo() {
        SocketAddress taken = Sockets.localAddress(loop, listen(ONE));
        assertThatThrownBy(() -> listen(taken, SocketSettings.DEFAULTS))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining(taken.toString())
                .hasMessageContaining("EADDRINUSE")
                .hasMessageContaining("choose another port");
    }

    @Test
    @Clause({"N-1", "E-1"})
    void listen_onATakenPath_namesItAndWhatToDo() {
        SocketAddress path = UnixDomainSocketAddress.of(directory.resolve("taken"));
        listen(path, SocketSettings.DEFAULTS);
        assertThatThrownBy(() -> listen(path, SocketSettings.DEFAULTS))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining(path.toString())
                .hasMessageContaining("delete that file");
    }

    @Test
    @Clause({"N-1", "E-1"})
    void listen_onAnAddressOfAnotherMachine_saysSo() {
        // An address of a network reserved for documentation.
        SocketAddress elsewhere = new InetSocketAddress(host("192.0.2.1"), 0);
        assertThatThrownBy(() -> listen(elsewhere, SocketSettings.DEFAULTS))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("192.0.2.1")
                .hasMessageContaining("no interface of this machine has that address");
    }
}
