package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.CloseReason;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Distribution;
import dev.gyre.io.DrainReport;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Faults and races inside a group listener that no client can provoke.
@On("simulated")
class GroupListenerFaultsTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(80);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final LoopGroupConfig QUIET =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT
                            .withName("group")
                            .withUncaughtHandler((_, _) -> {})
                            .withObserver(new LoopObserver() {}));

    private final SimulatedWorld world = SimulatedWorld.seed(7);
    private final int descriptors = world.openDescriptors();
    private final LoopGroup group = world.group(2, QUIET);
    private final List<Stream> served = new ArrayList<>();
    private LoopGroupListener listener;

    @AfterEach
    void closeWorld() {
        group.close();
        assertThat(world.openDescriptors()).isEqualTo(descriptors);
        world.close();
    }

    private void listen(Distribution distribution, int max) {
        ListenerConfig config =
                ListenerConfig.DEFAULT.withDistribution(distribution).withMaxConnections(max);
        listener = (LoopGroupListener) Listener.on(group, ADDRESS, config, served::add);
        group.start();
        world.advance(SECOND);
    }

    private ListenerSlot slot(int index) {
        return listener.slots.get(index);
    }

    private LoopListener on(int index) {
        return slot(index).listener;
    }

    private void run(int index, Runnable action) {
        group.loops().get(index).submit(action);
        world.advance(Duration.ofMillis(10));
    }

    /// Begins to drain one loop, while the other one still accepts.
    private CompletableFuture<DrainReport> drain(int index) {
        CompletableFuture<DrainReport> report = new CompletableFuture<>();
        run(index, () -> on(index).drain(SECOND).thenAccept(report::complete));
        return report;
    }

    private OpenDescriptor socket() {
        return NativeSockets.stream(
                Loop.of(group.loops().getFirst()).operations().syscalls(), ADDRESS);
    }

    @Test
    @Clause("G-2")
    void drain_withAConnectionOnItsWayThatIsPassedOn_reportsAtOnce() {
        listen(Distribution.LEAST_CONNECTIONS, Integer.MAX_VALUE);
        // Loop 0 hands over a connection, and has not submitted it yet.
        long _ = slot(1).add(ListenerSlot.CONNECTIONS, 1);
        CompletableFuture<DrainReport> report = drain(1);
        assertThat(report).isNotDone();
        OpenDescriptor connection = socket();
        run(1, () -> slot(1).receive(connection, on(1)));
        assertThat(connection.isOpen()).isFalse(); // Loop 0 finds that it has no peer.
        assertThat(report).isCompleted();
    }

    @Test
    @Clause("G-2")
    void drain_withACountThatFallsUnnoticed_reportsAtTheDeadline() {
        listen(Distribution.LEAST_CONNECTIONS, Integer.MAX_VALUE);
        long _ = slot(1).add(ListenerSlot.CONNECTIONS, 1);
        CompletableFuture<DrainReport> report = drain(1);
        long _ = slot(1).add(ListenerSlot.CONNECTIONS, -1);
        world.advance(SECOND);
        assertThat(report).isCompleted();
    }

    @Test
    @Clause("G-3")
    void serve_thatThrows_closesTheDescriptorAndReleasesThePlace() {
        listen(Distribution.REUSE_PORT, 1);
        OpenDescriptor closed = socket();
        closed.close();
        assertThat(slot(0).limit.acquire(on(0))).isTrue();
        run(
                0,
                () ->
                        assertThatThrownBy(() -> on(0).place(closed))
                                .isInstanceOf(ClosedDescriptorException.class));
        assertThat(slot(0).limit.isFull()).isFalse();
        assertThat(slot(0).connections()).isZero();
    }

    @Test
    @Clause("G-3")
    void release_withAWaiterThatThrows_keepsThePlaceAndTheWaiter() {
        ConnectionLimit limit = new ConnectionLimit(1, 1);
        List<String> offers = new ArrayList<>();
        ConnectionLimit.Waiter waiter =
                () -> {
                    offers.add("");
                    if (offers.size() == 1) {
                        throw new OutOfMemoryError("provoked");
                    }
                    return true;
                };
        assertThat(limit.acquire(waiter)).isTrue();
        assertThat(limit.acquire(waiter)).isFalse();
        assertThatThrownBy(limit::release).isInstanceOf(OutOfMemoryError.class);
        assertThat(limit.isFull()).isFalse();
        assertThat(limit.acquire(waiter)).isTrue();
        limit.release();
        assertThat(offers).hasSize(2);
        assertThat(limit.isFull()).isTrue();
    }

    @Test
    @Clause("G-3")
    void place_releasedWhileTheWaitingLoopIsPaused_isFreeForOthersAtOnce() {
        listen(Distribution.LEAST_CONNECTIONS, 1);
        world.connect(80);
        SimulatedPeer waiting = world.connect(80).send("hello");
        world.advance(SECOND);
        assertThat(served).hasSize(1);
        List<Boolean> full = new ArrayList<>();
        run(
                0,
                () -> {
                    on(0).setSuspended(Acceptor.PAUSED, true);
                    served.getFirst().abort();
                    EventLoop loop = group.loops().getFirst();
                    loop.microtask(() -> full.add(slot(0).limit.isFull()));
                });
        assertThat(full).containsExactly(false);
        run(0, () -> on(0).setSuspended(Acceptor.PAUSED, false));
        assertThat(served).hasSize(2);
        assertThat(waiting.isOpen()).isTrue();
    }

    /// Serves one client on loop 0, then moves its stream.
    private SimulatedPeer serveAndMove(EventLoop target) {
        SimulatedPeer client = world.connect(80);
        world.advance(SECOND);
        Stream stream = served.getLast();
        assertThat(stream.loop()).isEqualTo(group.loops().getFirst());
        run(0, () -> stream.moveTo(target, _ -> stream.onData(stream::write)));
        assertThat(stream.loop()).isEqualTo(target);
        return client;
    }

    private void failFirst() {
        EventLoop failing = group.loops().getFirst();
        run(
                0,
                () -> {
                    throw new InternalError("provoked");
                });
        world.advance(SECOND);
        assertThat(group.loops()).doesNotContain(failing);
    }

    @Test
    @Clause({"G-3", "G-4"})
    void place_ofAMovedStream_isReleasedAfterTheLoopThatAcceptedItFailed() {
        listen(Distribution.LEAST_CONNECTIONS, 1);
        SimulatedPeer client = serveAndMove(group.loops().get(1));
        failFirst();
        assertThat(client.isOpen()).isTrue();
        SimulatedPeer next = world.connect(80);
        world.advance(SECOND);
        assertThat(served).hasSize(1);
        client.reset();
        world.advance(SECOND);
        assertThat(served).hasSize(2);
        assertThat(next.isOpen()).isTrue();
    }

    @Test
    @Clause({"G-1", "G-4"})
    void drain_afterTheLoopOfAStreamMovedOutsideTheGroupFailed_resetsItAtTheDeadline() {
        listen(Distribution.LEAST_CONNECTIONS, Integer.MAX_VALUE);
        SimulatedPeer client = serveAndMove(world.loop());
        failFirst();
        assertThat(listener.connections()).isEqualTo(1);
        CompletableFuture<DrainReport> report = listener.drain(SECOND).toCompletableFuture();
        world.advance(Duration.ofMillis(500));
        assertThat(report).isNotDone();
        world.advance(SECOND);
        assertThat(client.isReset()).isTrue();
        assertThat(report).isCompletedWithValue(new DrainReport(0, 1));
    }

    @Test
    @Clause({"G-1", "G-4"})
    void drain_afterTheLoopOfAStreamMovedOutsideTheGroupFailed_reportsWhenItCloses() {
        listen(Distribution.LEAST_CONNECTIONS, Integer.MAX_VALUE);
        SimulatedPeer client = serveAndMove(world.loop());
        failFirst();
        CompletableFuture<DrainReport> report = listener.drain(SECOND).toCompletableFuture();
        client.reset();
        world.advance(Duration.ofMillis(500));
        assertThat(report).isCompletedWithValue(new DrainReport(1, 0));
    }

    @Test
    @Clause({"G-3", "G-4"})
    void stream_whoseArrivalFails_closesAndReleasesItsPlace() {
        listen(Distribution.LEAST_CONNECTIONS, 1);
        SimulatedPeer client = world.connect(80);
        world.advance(SECOND);
        Stream stream = served.getFirst();
        LoopListener first = on(0);
        List<CloseReason> closed = new ArrayList<>();
        stream.onClose(
                why -> {
                    closed.add(why);
                    slot(0).listener = first;
                });
        run(
                0,
                () -> {
                    stream.moveTo(group.loops().get(1), _ -> {});
                    slot(0).listener = null; // The arrival throws.
                });
        world.advance(SECOND);
        assertThat(closed).containsExactly(CloseReason.ABORTED);
        assertThat(listener.connections()).isZero();
        assertThat(slot(0).limit.isFull()).isFalse();
        assertThat(client.isOpen()).isFalse();
    }

    @Test
    @Clause("G-4")
    void moveTo_byTheProgram_doesNotSuspendRebalancing() {
        listen(Distribution.LEAST_CONNECTIONS, Integer.MAX_VALUE);
        world.connect(80);
        world.advance(SECOND);
        List<Long> moving = new ArrayList<>();
        run(
                0,
                () -> {
                    served.getFirst().moveTo(world.loop(), _ -> {});
                    moving.add(slot(0).get(ListenerSlot.MOVING));
                });
        assertThat(moving).containsExactly(0L);
        served.getFirst().abort();
        world.advance(SECOND);
    }

    @Test
    @Clause({"G-1", "G-3"})
    void client_waitingForAPlaceOnALoopThatFails_isServedByAnother() {
        listen(Distribution.LEAST_CONNECTIONS, 1);
        assertThat(slot(1).limit.acquire(on(1))).isTrue(); // For a connection of loop 1.
        SimulatedPeer waiting = world.connect(80);
        world.advance(SECOND);
        failFirst();
        assertThat(waiting.isOpen()).isTrue();
        assertThat(served).isEmpty();
        slot(1).limit.release();
        world.advance(SECOND);
        assertThat(served).hasSize(1);
        assertThat(listener.refused()).isZero();
    }
}
