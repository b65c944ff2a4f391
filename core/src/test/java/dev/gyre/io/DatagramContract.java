package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// What datagram sockets do, whatever kernel they are on: clause N-1.
public abstract class DatagramContract extends OperationFixture {
    @TempDir Path directory;

    private final List<String> heard = new ArrayList<>();
    private final List<SystemCallException> errors = new ArrayList<>();
    private final List<Throwable> uncaught = new ArrayList<>();

    /// Whether the kernel has Unix domain sockets for messages.
    protected boolean hasUnixDatagrams() {
        return true;
    }

    @Override
    protected LoopConfig config() {
        return super.config().withUncaughtHandler((thread, thrown) -> uncaught.add(thrown));
    }

    private static SocketAddress at(String host) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), 0);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private UnixDomainSocketAddress path(String name) {
        return UnixDomainSocketAddress.of(directory.resolve(name));
    }

    private Datagram bind() {
        return Datagram.bind(loop, anyPort());
    }

    private Datagram hearing(Datagram socket) {
        return socket.onMessage((message, from) -> heard.add(message.getText(US_ASCII)));
    }

    private void runUntilHeard(String... messages) {
        runUntil("heard " + List.of(messages), () -> heard.size() >= messages.length);
        assertThat(heard).containsExactly(messages);
    }

    private void echo(Datagram server, Datagram client) {
        server.onMessage((message, from) -> assertThat(server.send(message, from)).isTrue());
        List<SocketAddress> senders = new ArrayList<>();
        client.onMessage(
                (message, from) -> {
                    heard.add(message.getText(US_ASCII));
                    senders.add(from);
                });
        Buffer ping = bytes("ping");
        assertThat(client.send(ping, server.address())).isTrue();
        assertThat(ping.readable()).as("what is left in the buffer").isZero();
        runUntilHeard("ping");
        assertThat(senders).containsExactly(server.address());
        assertThat(server.received()).isEqualTo(1);
        assertThat(server.sent()).isEqualTo(1);
    }

    @Test
    @Clause("N-1")
    void echo_overIpv4_comesBack() {
        echo(Datagram.bind(loop, at("127.0.0.1")), Datagram.bind(loop, at("127.0.0.1")));
    }

    @Test
    @Clause("N-1")
    void echo_overIpv6_comesBack() {
        echo(Datagram.bind(loop, at("::1")), Datagram.bind(loop, at("::1")));
    }

    @Test
    @Clause("N-1")
    void echo_overUnixPaths_comesBack() {
        assumeTrue(hasUnixDatagrams(), "this kernel is in memory and has no such sockets");
        echo(Datagram.bind(loop, path("server")), Datagram.bind(loop, path("client")));
    }

    @Test
    @Clause("N-1")
    void send_fromAllAddressesOfIpv6_getsToIpv4() {
        Datagram four = hearing(bind());
        Datagram six = Datagram.bind(loop, at("::"));
        assertThat(six.send(bytes("hello"), four.address())).isTrue();
        runUntilHeard("hello");
    }

    @Test
    @Clause({"N-1", "E-2"})
    void send_toAnotherSortOfAddress_throwsAndNamesIt() {
        Datagram four = bind();
        SocketAddress six = Datagram.bind(loop, at("::1")).address();
        assertThatThrownBy(() -> four.send(bytes("x"), six))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(six.toString())
                .hasMessageContaining("IPv4");
        assertThatThrownBy(() -> four.send(bytes("x")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has no peer");
    }

    @Test
    @Clause("N-1")
    void message_withoutBytes_isOneToo() {
        Datagram to = hearing(bind());
        assertThat(bind().send(Buffer.allocate(1), to.address())).isTrue();
        runUntilHeard("");
    }

    @Test
    @Clause("N-1")
    void message_longerThanTheLargest_isCutAndSaysSo() {
        List<Boolean> cut = new ArrayList<>();
        Datagram to = Datagram.bind(loop, anyPort(), DatagramConfig.DEFAULT.withMaxMessageBytes(4));
        to.onMessage(
                (message, from) -> {
                    heard.add(message.getText(US_ASCII));
                    cut.add(to.isTruncated());
                });
        Datagram by = bind();
        by.send(bytes("abcdef"), to.address());
        by.send(bytes("abcd"), to.address());
        runUntilHeard("abcd", "abcd");
        assertThat(cut).containsExactly(true, false);
        assertThat(to.truncated()).isEqualTo(1);
        assertThat(to.isTruncated()).as("outside a callback").isFalse();
    }

    @Test
    @Clause("N-1")
    void message_afterItsCallback_isNotToBeRead() {
        List<Buffer> kept = new ArrayList<>();
        Datagram to = bind();
        to.onMessage((message, from) -> kept.add(message));
        bind().send(bytes("gone"), to.address());
        runUntil("received", () -> !kept.isEmpty());
        assertThatThrownBy(() -> kept.getFirst().readable())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the callback that it was lent to has returned");
    }

    @Test
    @Clause("N-1")
    void messages_inOrder_moreThanATurnTakes() {
        Datagram to = hearing(bind());
        Datagram by = bind();
        String[] all = IntStream.range(0, 150).mapToObj(Integer::toString).toArray(String[]::new);
        for (String message : all) {
            assertThat(by.send(bytes(message), to.address())).isTrue();
        }
        runUntilHeard(all);
    }

    @Test
    @Clause("N-1")
    void pause_holdsMessagesBackUntilResume() {
        Datagram to = hearing(bind());
        to.pause();
        bind().send(bytes("later"), to.address());
        settle();
        assertThat(heard).isEmpty();
        assertThat(to.isPaused()).isTrue();
        to.resume();
        runUntilHeard("later");
    }

    @Test
    @Clause({"N-1", "E-3"})
    void callback_thatThrows_costsItsMessageOnly() {
        Datagram to = bind();
        to.onMessage(
                (message, from) -> {
                    String text = message.getText(US_ASCII);
                    if (text.equals("bad")) {
                        throw new IllegalStateException("cannot read " + text);
                    }
                    heard.add(text);
                });
        Datagram by = bind();
        by.send(bytes("bad"), to.address());
        by.send(bytes("good"), to.address());
        runUntilHeard("good");
        assertThat(to.isOpen()).isTrue();
        assertThat(uncaught)
                .singleElement()
                .hasToString("java.lang.IllegalStateException: cannot read bad");
    }

    @Test
    @Clause({"N-1", "E-2"})
    void peer_thatIsGone_isReportedAndEndsNothing() {
        Datagram gone = bind();
        Datagram by = hearing(bind()).onError(errors::add).connect(gone.address());
        gone.close();
        settle();
        assertThat(by.send(bytes("anybody?"))).isTrue();
        runUntil("told of it", () -> !errors.isEmpty());
        assertThat(errors.getFirst().errnoName()).isEqualTo("ECONNREFUSED");
        assertThat(by.failed()).isEqualTo(1);
        assertThat(by.isOpen()).isTrue();
        Datagram other = bind();
        by.connect(other.address());
        assertThat(other.send(bytes("me"), by.address())).isTrue();
        runUntilHeard("me");
    }

    @Test
    @Clause("N-1")
    void connect_hearsOfThePeerOnly() {
        Datagram peer = bind();
        Datagram stranger = bind();
        Datagram by = hearing(bind()).connect(peer.address());
        assertThat(by.peer()).isEqualTo(peer.address());
        stranger.send(bytes("spam"), by.address());
        peer.send(bytes("ham"), by.address());
        runUntilHeard("ham");
    }

    @Test
    @Clause("N-1")
    void burst_largerThanTheQueue_isDroppedAndCountedAndTheRestArrivesInOrder() {
        assumeTrue(hasUnixDatagrams(), "only Unix sockets have a sender wait for its receiver");
        for (boolean connected : List.of(false, true)) {
            heard.clear();
            Datagram to = Datagram.bind(loop, path("to-" + connected));
            Datagram by =
                    Datagram.bind(
                            loop,
                            path("by-" + connected),
                            DatagramConfig.DEFAULT.withMaxQueued(5, 1 << 20));
            if (connected) {
                by.connect(to.address());
            }
            List<String> accepted = new ArrayList<>();
            for (int i = 0; i < 5_000 && by.dropped() < 3; i++) {
                Buffer message = bytes("m" + i);
                if (connected ? by.send(message) : by.send(message, to.address())) {
                    accepted.add("m" + i);
                } else {
                    assertThat(message.readable()).as("left as it was").isPositive();
                }
            }
            assertThat(by.dropped()).as("of a burst that nobody reads").isEqualTo(3);
            assertThat(by.pending()).isEqualTo(5);
            hearing(to);
            runUntil("the rest arrives", () -> heard.size() == accepted.size());
            assertThat(heard).isEqualTo(accepted);
            assertThat(by.sent()).isEqualTo(accepted.size());
            assertThat(by.pending()).isZero();
        }
    }

    // ------------------------------------------------------------------ ending

    @Test
    @Clause("N-1")
    void close_inACallback_isTheLastOfIt() {
        Datagram to = bind();
        to.onClose(() -> heard.add("closed"));
        to.onMessage(
                (message, from) -> {
                    heard.add(message.getText(US_ASCII));
                    to.close();
                    to.close();
                    heard.add("callback ends");
                });
        Datagram by = bind();
        by.send(bytes("first"), to.address());
        by.send(bytes("second"), to.address());
        runUntilHeard("first", "callback ends", "closed");
        settle();
        assertThat(heard).hasSize(3);
        assertThat(to.isOpen()).isFalse();
        assertThat(to.send(bytes("late"), by.address())).isFalse();
        assertThat(to.dropped()).isEqualTo(1);
        assertThatThrownBy(() -> hearing(to))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(Datagram.bind(loop, to.address()).isOpen()).as("the port is free").isTrue();
    }

    @Test
    @Clause({"N-1", "S-1"})
    void loop_thatEnds_closesItAndSaysSo() {
        EventLoop other = open(config());
        Datagram socket = hearing(Datagram.bind(other, anyPort()));
        socket.onClose(() -> heard.add("closed"));
        other.close();
        assertThat(heard).containsExactly("closed");
    }

    @Test
    @Clause({"N-1", "L-9"})
    void loop_isKeptAlive_onlyWhileSomebodyWantsMessages() {
        Datagram socket = bind();
        loop.runUntilEmpty();
        hearing(socket);
        socket.pause();
        loop.runUntilEmpty();
        socket.resume();
        loop.defer(socket::close);
        loop.runUntilEmpty();
        assertThat(socket.isOpen()).isFalse();
    }

    @Test
    @Clause({"N-1", "E-1"})
    void bind_toATakenAddress_namesItAndWhatToDo() {
        SocketAddress taken = bind().address();
        assertThatThrownBy(() -> Datagram.bind(loop, taken))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining(taken.toString())
                .hasMessageContaining("choose another port");
        DatagramConfig shared = DatagramConfig.DEFAULT.withReusePort(true);
        SocketAddress both = Datagram.bind(loop, anyPort(), shared).address();
        assertThat(Datagram.bind(loop, both, shared).address()).isEqualTo(both);
    }

    @Test
    @Clause({"N-1", "E-2"})
    void config_outOfRange_throwsAndNamesTheValue() {
        assertThatThrownBy(() -> DatagramConfig.DEFAULT.withMaxMessageBytes(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxMessageBytes must be from 1 to 16777216, but is 0");
        assertThatThrownBy(() -> DatagramConfig.DEFAULT.withMaxQueued(-7, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-7");
    }
}
