package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/// Tests streams that move between the loops of a group whose listener accepted them.
abstract class GroupMoveContract extends GroupFixture {
    private final Queue<Stream> streams = new ConcurrentLinkedQueue<>();

    @Override
    protected void echo(Stream stream) {
        super.echo(stream);
        streams.add(stream);
    }

    private static void move(Stream stream, EventLoop target) throws Exception {
        CompletableFuture<Boolean> moved = new CompletableFuture<>();
        stream.loop()
                .submit(() -> stream.moveTo(target, _ -> moved.complete(target.isLoopThread())));
        assertThat(moved.get(20, TimeUnit.SECONDS)).isTrue();
    }

    private Socket serveOnFirst(ListenerConfig config) throws Exception {
        listen(config.withDistribution(Distribution.LEAST_CONNECTIONS));
        Socket client = connect();
        exchange(client, "hello");
        assertThat(listener.connections(loop(0))).isEqualTo(1);
        return client;
    }

    @Test
    @Clause("G-4")
    void stream_moved_countsForTheListenerOnItsLoop() throws Exception {
        Socket client = serveOnFirst(ListenerConfig.DEFAULT);
        move(streams.element(), loop(1));
        exchange(client, "again");
        assertThat(listener.connections(loop(0))).isZero();
        assertThat(listener.connections(loop(1))).isEqualTo(1);
        client.close();
        await("closed", () -> listener.connections() == 0);
    }

    @Test
    @Clause("G-4")
    void drain_withAMovedStream_waitsAndResetsIt() throws Exception {
        Socket client = serveOnFirst(ListenerConfig.DEFAULT);
        move(streams.element(), loop(1));
        DrainReport report =
                listener.drain(Duration.ofMillis(30))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS);
        assertThat(report).isEqualTo(new DrainReport(0, 1));
        assertThatThrownBy(() -> client.getInputStream().read()).hasMessageContaining("reset");
    }

    @Test
    @Clause("G-4")
    void stream_movedBeforeItsLoopFails_staysAndKeepsItsPlace() throws Exception {
        Socket client = serveOnFirst(ListenerConfig.DEFAULT.withMaxConnections(2));
        EventLoop first = loop(0);
        move(streams.element(), loop(1));
        fail(first);
        await("replaced", () -> loop(0) != first);
        exchange(client, "still served");
        assertThat(listener.connections()).isEqualTo(1);
        Socket second = connect();
        exchange(second, "second");
        Socket waiting = connect();
        client.close();
        exchange(waiting, "has the place of the moved one");
        second.close();
        waiting.close();
        await("closed", () -> listener.connections() == 0);
    }

    @Test
    @Clause("G-4")
    void streams_movedAtRandomUnderLoad_areServedAndCountedOnce() throws IOException {
        listen(ListenerConfig.DEFAULT);
        Socket[] clients = new Socket[8];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = connect();
            exchange(clients[i], "x");
        }
        for (int round = 0; round < 200; round++) {
            for (Stream stream : streams) {
                EventLoop at = stream.loop();
                EventLoop target = loop(group.loops().indexOf(at) == 0 ? 1 : 0);
                at.submit(
                        () -> {
                            if (stream.loop() == at && stream.isOpen()) {
                                tryMove(stream, target);
                            }
                        });
            }
            for (Socket client : clients) {
                exchange(client, "round " + round);
            }
            assertThat(listener.connections()).isEqualTo(clients.length);
        }
        for (Socket client : clients) {
            client.close();
        }
        await("closed", () -> listener.connections() == 0);
        await(
                "none is open",
                () -> group.loops().stream().allMatch(loop -> loop.metrics().streams() == 0));
    }

    @Test
    @Clause("G-4")
    void rebalancing_afterOneLoopHasMostConnections_evensThemOut() throws Exception {
        listen(ListenerConfig.DEFAULT.withRebalanceInterval(Duration.ofMillis(10)));
        Socket[] clients = new Socket[40];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = connect();
            exchange(clients[i], "x");
        }
        int left = clients.length;
        for (int i = 0; i < clients.length; i++) {
            Stream stream = streams.remove();
            streams.add(stream);
            if (left > 5 && stream.loop() == loop(0)) {
                clients[i].close();
                left--;
            }
        }
        int open = left;
        await("even", () -> isEven(open));
        for (Socket client : clients) {
            if (!client.isClosed()) {
                exchange(client, "still served");
            }
        }
        assertThat(isEven(open)).isTrue();
        assertThat(moves()).as("no oscillation").isLessThan(clients.length);
    }

    private boolean isEven(int open) {
        int zero = listener.connections(loop(0));
        int one = listener.connections(loop(1));
        return zero + one == open && Math.abs(zero - one) <= 8;
    }

    private long moves() {
        return group.loops().stream().mapToLong(loop -> loop.metrics().streamsMovedIn()).sum();
    }

    private static void tryMove(Stream stream, EventLoop target) {
        try {
            stream.moveTo(target);
        } catch (IllegalStateException | WrongThreadException e) {
            assertThat(e).hasMessageMatching("(?s).*(moving from|confined to).*");
        }
    }
}
