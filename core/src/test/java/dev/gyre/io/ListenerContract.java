package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What a listener admits, as every backend keeps it.
public abstract class ListenerContract extends StreamFixture {
    private final List<Stream> accepted = new ArrayList<>();

    private void listenFor(ListenerConfig config) {
        listener = Listener.on(loop, anyPort(), config, accepted::add);
    }

    private List<Stream> clients(int count) {
        List<Stream> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(outcome(Stream.connect(loop, listener.address())));
        }
        return clients;
    }

    @Test
    @Clause("N-1")
    void connections_areCounted() {
        listenFor(ListenerConfig.DEFAULT);
        List<Stream> clients = clients(3);
        runUntil("all are accepted", () -> accepted.size() == 3);
        assertThat(listener.connections()).isEqualTo(3);
        assertThat(listener.accepted()).isEqualTo(3);
        assertThat(loop.metrics().streams()).isEqualTo(6);
        clients.getFirst().abort();
        accepted.forEach(stream -> stream.onData(Buffer::clear));
        runUntil("one is gone", () -> listener.connections() == 2);
        assertThat(loop.metrics().streamsClosed(CloseReason.RESET)).isEqualTo(1);
        assertThat(loop.metrics().streamsClosed(CloseReason.ABORTED)).isEqualTo(1);
    }

    @Test
    @Clause("N-3")
    void connections_aboveTheLimit_waitUntilOneIsGone() {
        listenFor(ListenerConfig.DEFAULT.withMaxConnections(2));
        List<Stream> clients = clients(5);
        runUntil("as many as may", () -> accepted.size() == 2);
        settle();
        assertThat(accepted).hasSize(2);
        assertThat(listener.isExhausted()).isTrue();
        accepted.getFirst().abort();
        runUntil("the next one", () -> accepted.size() == 3);
        settle();
        assertThat(accepted).hasSize(3);
        accepted.forEach(Stream::abort);
        runUntil("the rest", () -> accepted.size() == 5);
        assertThat(listener.refused()).isZero();
        assertThat(clients).hasSize(5);
    }

    @Test
    @Clause({"E-3", "N-6"})
    void connection_resetBeforeItIsAccepted_isNeitherAcceptedNorRefused() {
        listenFor(ListenerConfig.DEFAULT);
        listener.pause();
        settle();
        clients(3).forEach(Stream::abort);
        loop.after(Duration.ofMillis(50), _ -> events.add("the resets have arrived"));
        awaitEvent("the resets have arrived");
        listener.resume();
        clients(1);
        runUntil("accepted", () -> accepted.size() == 1);
        settle();
        assertThat(listener.accepted()).isEqualTo(1);
        assertThat(listener.refused()).isZero();
        assertThat(loop.metrics().connectionsRefused()).isZero();
    }

    @Test
    @Clause("N-6")
    void connections_ofOnePeerAboveItsLimit_areClosedAtOnce() {
        listenFor(ListenerConfig.DEFAULT.withMaxConnectionsPerPeer(2));
        List<Stream> clients = clients(3);
        clients.forEach(client -> record("client", client));
        runUntil("one is refused", () -> listener.refused() == 1);
        assertThat(loop.metrics().connectionsRefused()).isEqualTo(1);
        assertThat(listener.shed()).isZero();
        awaitEvent("client end");
        assertThat(accepted).hasSize(2);
        accepted.getFirst().abort();
        runUntil("it is gone", () -> listener.connections() == 1);
        outcome(Stream.connect(loop, listener.address()));
        runUntil("there is room for another one", () -> accepted.size() == 3);
    }

    @Test
    @Clause("N-1")
    void pause_letsPeersWait_untilResume() {
        listenFor(ListenerConfig.DEFAULT);
        listener.pause();
        settle();
        clients(2);
        settle();
        assertThat(accepted).isEmpty();
        listener.resume();
        runUntil("both are accepted", () -> accepted.size() == 2);
    }

    @Test
    @Clause("N-1")
    void close_refusesNewPeers_andLeavesTheOthers() {
        listenFor(ListenerConfig.DEFAULT);
        Stream one = clients(1).getFirst();
        runUntil("accepted", () -> accepted.size() == 1);
        var address = listener.address();
        listener.close();
        listener.close();
        assertThat(listener.isOpen()).isFalse();
        settle();
        assertThat(failure(Stream.connect(loop, address)))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ECONNREFUSED");
        accepted.getFirst().onData(accepted.getFirst()::write);
        record("one", one);
        one.write("still here");
        awaitEvent("one still here");
    }

    @Test
    @Clause("N-6")
    void handler_thatThrows_costsItsConnectionOnly() {
        int[] calls = {0};
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT,
                        stream -> {
                            if (calls[0]++ == 0) {
                                throw new IllegalStateException("thrown by a test");
                            }
                            accepted.add(stream);
                        });
        // It may be reset before it knows that it is connected.
        Stream.connect(loop, listener.address())
                .then(first -> record("first", first), failure -> null);
        runUntil("the handler has thrown", () -> loop.metrics().failures() == 1);
        runUntil("its connection is gone", () -> listener.connections() == 0);
        assertThat(loop.metrics().streamsClosed(CloseReason.HANDLER_FAILED)).isEqualTo(1);
        clients(1);
        runUntil("the next one is accepted", () -> accepted.size() == 1);
    }

    @Test
    @Clause("N-1")
    void address_thatIsTaken_isNamed() {
        listenFor(ListenerConfig.DEFAULT);
        assertThatThrownBy(
                        () ->
                                Listener.tcp(
                                        loop, (InetSocketAddress) listener.address(), stream -> {}))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EADDRINUSE")
                .hasMessageContaining(Integer.toString(address().getPort()));
    }

    @Test
    @Clause("E-3")
    void end_ofTheLoop_closesEverything() {
        listenFor(ListenerConfig.DEFAULT);
        Stream one = clients(1).getFirst();
        one.onClose(reason -> events.add("client " + reason));
        runUntil("accepted", () -> accepted.size() == 1);
        accepted.getFirst().onClose(reason -> events.add("server " + reason));
        loop.close();
        assertThat(events).containsExactlyInAnyOrder("client LOOP_ENDED", "server LOOP_ENDED");
        assertThat(listener.isOpen()).isFalse();
    }
}
