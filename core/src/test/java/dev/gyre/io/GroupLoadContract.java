package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.tls.Certificates;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// Tests limits of group listeners, and loops that fail under load, over real sockets.
abstract class GroupLoadContract extends GroupFixture {
    private final AtomicInteger serving = new AtomicInteger();
    private final AtomicInteger maxServing = new AtomicInteger();

    /// Listens with an echo that counts the connections being served.
    private void listenCounting(ListenerConfig config) {
        listener =
                Listener.on(
                        group,
                        anyPort(),
                        config,
                        stream -> {
                            maxServing.accumulateAndGet(serving.incrementAndGet(), Math::max);
                            stream.onClose(_ -> serving.decrementAndGet());
                            echo(stream);
                        });
        group.start();
    }

    /// Makes every loop run a few ticks.
    private void settle() {
        for (int i = 0; i < 4; i++) {
            group.forEach(_ -> {});
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-3")
    void maxConnections_overTwoLoops_isReachedAndNeverExceeded(Distribution distribution)
            throws IOException {
        ListenerConfig config = ListenerConfig.DEFAULT.withDistribution(distribution);
        for (int max = 1; max <= 20; max++) {
            serving.set(0);
            maxServing.set(0);
            served.clear();
            open(2, config());
            listenCounting(config.withMaxConnections(max));
            serveInTurn(max, new Random(max));
            assertThat(maxServing.get()).isEqualTo(max);
            assertThat(listener.refused()).isZero();
        }
    }

    /// Connects more clients than the limit, which leave in random order. Each one is served.
    private void serveInTurn(int max, Random random) throws IOException {
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < max + 6; i++) {
            clients.add(connect());
        }
        int left = 0;
        while (!clients.isEmpty()) {
            int expected = Math.min(max, clients.size());
            await("all places are taken", () -> serving.get() == expected);
            // The loops may only now notice the client that left, and then fill its place.
            settle();
            await("all places stay taken", () -> serving.get() == expected);
            Socket leaving = clients.remove(random.nextInt(clients.size()));
            left++;
            if (random.nextBoolean()) {
                leaving.close();
            } else {
                reset(leaving);
            }
        }
        await("all are gone", () -> serving.get() == 0);
        assertThat(totalServed()).isLessThanOrEqualTo(left);
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-3")
    void maxConnectionsPerPeer_overTwoLoops_isExact(Distribution distribution) throws Exception {
        listenCounting(
                ListenerConfig.DEFAULT.withDistribution(distribution).withMaxConnectionsPerPeer(5));
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            clients.add(connect());
        }
        await("the others are refused", () -> listener.refused() == 20);
        assertThat(serving.get()).isEqualTo(5);
        assertThat(listener.accepted()).isEqualTo(25);
        for (Socket client : clients) {
            client.close();
        }
        await("all are gone", () -> listener.connections() == 0);
        for (int i = 0; i < 5; i++) {
            exchange(connect(), "there is room again");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause({"G-1", "G-2", "G-3"})
    void loops_failingUnderLoad_loseTheirConnectionsOnly(Distribution distribution)
            throws Exception {
        int max = 6;
        listenCounting(
                ListenerConfig.DEFAULT.withDistribution(distribution).withMaxConnections(max));
        exchange(connect(), "classes are loaded");
        long descriptors = openDescriptors();
        AtomicInteger exchanges = new AtomicInteger();
        AtomicInteger lost = new AtomicInteger();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 2 * max; i++) {
                running.add(threads.submit(load(exchanges, lost)));
            }
            for (int failure = 1; failure <= 6; failure++) {
                int until = failure * 100;
                await("the load continues", () -> exchanges.get() >= until);
                EventLoop failing = loop(failure % 2);
                fail(failing);
                await("it is replaced", () -> !group.loops().contains(failing));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
        await("only the first one is left", () -> listener.connections() <= 1);
        assertThat(maxServing.get()).isLessThanOrEqualTo(max);
        // A loop that fails loses the connections it serves, and those it has just accepted.
        assertThat(lost.get()).isLessThanOrEqualTo(6 * 2 * max);
        await("descriptors are closed", () -> openDescriptors() <= descriptors);
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < max - listener.connections(); i++) {
            clients.add(connect());
        }
        for (Socket client : clients) {
            exchange(client, "every place is free");
        }
    }

    private Callable<?> load(AtomicInteger exchanges, AtomicInteger lost) {
        return () -> {
            while (exchanges.get() < 1_000) {
                try (Socket client = new Socket()) {
                    client.setSoTimeout(30_000);
                    client.connect(listener.address());
                    exchange(client, "a");
                    exchange(client, "b");
                } catch (SocketTimeoutException e) {
                    throw new AssertionError("a client hangs", e);
                } catch (IOException | AssertionError e) {
                    lost.incrementAndGet(); // Reset, or ended without a response.
                }
                exchanges.incrementAndGet();
            }
            return null;
        };
    }

    private static long openDescriptors() {
        try (var all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        } catch (IOException e) {
            throw new AssertionError("/proc is readable", e);
        }
    }

    @Test
    @Clause("G-2")
    void tls_onAGroup_isServedByAllLoops() throws IOException {
        listen(
                ListenerConfig.DEFAULT
                        .withDistribution(Distribution.LEAST_CONNECTIONS)
                        .withTls(Certificates.server()));
        AtomicInteger echoed = new AtomicInteger();
        StreamConfig config = StreamConfig.DEFAULT.withTls(Certificates.client());
        try (EventLoop clients = EventLoop.open()) {
            for (int i = 0; i < 6; i++) {
                Promise<?> _ =
                        Stream.connect(clients, listener.address(), config)
                                .thenAccept(
                                        stream -> {
                                            stream.onData(_ -> echoed.incrementAndGet());
                                            stream.write("x");
                                        });
            }
            while (echoed.get() < 6) {
                clients.runSome();
            }
            assertThat(listener.connections(loop(0))).isEqualTo(3);
            assertThat(listener.connections(loop(1))).isEqualTo(3);
        }
        assertThat(served).hasSize(2);
    }
}
