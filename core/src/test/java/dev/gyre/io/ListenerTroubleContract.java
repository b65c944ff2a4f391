package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyFiles;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultySockets;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What a listener does when accepting fails, by the kind of the error, and what it counts and logs then.
public abstract class ListenerTroubleContract extends StreamFixture {
    protected final Plan plan = new Plan();
    private final List<SocketChannel> peers = new ArrayList<>();
    private final List<Stream> accepted = new ArrayList<>();
    private LogCapture log;

    /// Opens the backend under test.
    ///
    /// @param acceptsThroughSeam whether the plan can make an accept fail
    protected abstract Backend backend(
            SyscallFactories seam, LoopConfig config, boolean acceptsThroughSeam);

    @Override
    protected EventLoop open(LoopConfig config) {
        return open(config, false);
    }

    private EventLoop open(LoopConfig config, boolean acceptsThroughSeam) {
        SyscallFactories seam =
                new SyscallFactories(
                        () -> new FaultyKernel(plan),
                        () -> new FaultySockets(plan),
                        () -> new FaultyFiles(plan));
        return Loop.open(config, backend(seam, config, acceptsThroughSeam));
    }

    private void openWithFaultyAccept() {
        loop.close();
        loop = open(config(), true);
        operations = Operations.on(loop);
    }

    @BeforeEach
    void captureLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closePeers() throws IOException {
        log.close();
        for (SocketChannel peer : peers) {
            peer.close();
        }
    }

    private void listenAndEcho() {
        // A listener that waits for its next try keeps no loop alive.
        loop.every(Duration.ofMillis(50), _ -> {});
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT,
                        stream -> {
                            accepted.add(stream);
                            stream.onData(stream::write);
                        });
    }

    private SocketChannel peer() {
        try {
            SocketChannel peer = SocketChannel.open(address());
            peers.add(peer);
            return peer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// An orderly end could pass for an empty response.
    private static void assertReset(SocketChannel peer) {
        assertThatThrownBy(() -> peer.read(ByteBuffer.allocate(1)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("reset");
    }

    private void assertNothingIsCounted() {
        assertThat(listener.refused()).isZero();
        assertThat(listener.shed()).isZero();
        assertThat(listener.isExhausted()).isFalse();
        assertThat(loop.metrics().connectionsRefused()).isZero();
        assertThat(loop.metrics().connectionsShed()).isZero();
        assertThat(loop.metrics().exhaustions()).isZero();
    }

    // ------------------------------------------------------------------ by kind

    @ParameterizedTest
    @ValueSource(
            ints = {
                Errno.ECONNABORTED,
                Errno.EPERM,
                Errno.ENETDOWN,
                Errno.EPROTO,
                Errno.ENOPROTOOPT,
                Errno.EHOSTDOWN,
                Errno.ENONET,
                Errno.EHOSTUNREACH,
                Errno.EOPNOTSUPP,
                Errno.ENETUNREACH
            })
    @Clause("E-3")
    void accept_errorOfAPeer_goesOnWithTheNextAndIsNoRefusal(int errno) {
        openWithFaultyAccept();
        listenAndEcho();
        plan.fail("accept4", errno, 100);
        peer();

        runUntil("accepted", () -> accepted.size() == 1);

        assertThat(plan.count("accept4")).isGreaterThan(100);
        assertThat(listener.accepted()).isEqualTo(1);
        assertNothingIsCounted();
        assertThat(log.messages()).isEmpty();
    }

    @Test
    @Clause("E-3")
    void accept_errorOfPeersThatGoesOn_letsTheLoopRestAndIsLoggedOnce() {
        openWithFaultyAccept();
        listenAndEcho();
        plan.fail("accept4", Errno.EPERM, 5_000);
        long begin = loop.nanoTime();
        peer();

        runUntil("accepted", () -> accepted.size() == 1);

        assertNothingIsCounted();
        assertThat(log.messages())
                .singleElement()
                .asString()
                .contains(listener.toString().substring(0, 20), "cannot accept", "EPERM");
        assertThat(Duration.ofNanos(loop.nanoTime() - begin))
                .as("four pauses at least")
                .isGreaterThan(Duration.ofMillis(40));
    }

    @Test
    @Clause("E-3")
    void accept_errorOfTheProgram_isLoggedOnceAndTriedAgainLater() {
        openWithFaultyAccept();
        listenAndEcho();
        plan.fail("accept4", Errno.EINVAL);
        peer();

        runUntil("accepted", () -> accepted.size() == 1);

        assertNothingIsCounted();
        assertThat(plan.count("accept4")).as("calls").isLessThan(20);
        assertThat(log.messages()).singleElement().asString().contains("accept4: EINVAL");
    }

    // ------------------------------------------------------------------ exhaustion

    @Test
    @Clause("E-3")
    void accept_exhausted_shedsOneAndIsLoggedAndCountedOnce() {
        openWithFaultyAccept();
        listenAndEcho();
        plan.fail("accept4", Errno.EMFILE);
        peer();

        runUntil("shed", () -> listener.shed() == 1);
        assertThat(listener.isExhausted()).isTrue();
        plan.fail("accept4", Errno.ENOBUFS);
        peer();
        runUntil("shed again, in the same episode", () -> listener.shed() == 2);
        peer();
        runUntil("accepted", () -> accepted.size() == 1);

        assertReset(peers.get(0));
        assertReset(peers.get(1));
        assertThat(listener.refused()).isZero();
        assertThat(listener.accepted()).isEqualTo(3);
        assertThat(loop.metrics().connectionsShed()).isEqualTo(2);
        assertThat(loop.metrics().exhaustions()).isEqualTo(1);
        assertThat(log.messages())
                .singleElement()
                .asString()
                .contains("has stopped accepting", "EMFILE", "Raise");
    }

    @Test
    @Clause("E-3")
    void accept_numberInTheReserve_isShedAndTheReserveStaysFree() throws IOException {
        int next = freeNumber();
        int limit = next + 100;
        int firstReserved = limit - limit / 10;
        plan.openFiles(limit);
        listenAndEcho();
        for (int i = 0; i < 100 && listener.shed() == 0; i++) {
            int before = accepted.size();
            peer();
            runUntil("taken", () -> accepted.size() > before || listener.shed() > 0);
        }

        assertThat(listener.isExhausted()).isTrue();
        assertThat(accepted).as("two numbers each").hasSizeBetween(10, 50);
        assertReset(peers.getLast());
        assertThat(freeNumber())
                .as("the lowest free number")
                .isLessThanOrEqualTo(firstReserved + 2);
        assertThat(loop.metrics().connectionsShed()).isEqualTo(1);
        assertThat(loop.metrics().exhaustions()).isEqualTo(1);
        assertThat(listener.refused()).isZero();
        assertThat(log.messages())
                .singleElement()
                .asString()
                .contains(
                        "limit of " + limit + " open files",
                        limit / 10 + " of which are kept for files",
                        "ulimit -n");

        ByteBuffer echo = ByteBuffer.wrap("served".getBytes(US_ASCII));
        peers.getFirst().write(echo);
        runUntil("echoed", () -> accepted.getFirst().sent() == 6);

        plan.openFiles(limit + 1_000);
        int before = accepted.size();
        peer();
        runUntil("accepted once the limit is raised", () -> accepted.size() > before);
        assertThat(listener.shed()).isEqualTo(1);
    }

    /// The next number that the kernel gives out.
    private int freeNumber() throws IOException {
        List<Descriptor> pair = Sockets.pair(loop);
        int number = Math.min(pair.get(0).fd(), pair.get(1).fd());
        pair.forEach(Descriptor::close);
        return number;
    }

    @Test
    @Clause("E-3")
    void accept_burstAtTheLimit_shedsOneAndLeavesTheOthersWaiting() throws IOException {
        int waiting = 150;
        int limit = freeNumber() + waiting + 100;
        plan.openFiles(limit);
        listenAndEcho();
        listener.pause();
        settle();
        for (int i = 0; i < waiting; i++) {
            peer(); // These take numbers too.
        }
        listener.resume();

        runUntil("at the limit", () -> listener.isExhausted());
        settle();

        assertThat(accepted).isNotEmpty();
        assertThat(listener.shed()).isEqualTo(1);
    }
}
