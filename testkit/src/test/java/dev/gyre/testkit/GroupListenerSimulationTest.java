package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.Distribution;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/// Listeners of groups in the simulated world, against a model of their limits.
@On("simulated")
class GroupListenerSimulationTest {
    private static final int PORT = 80;
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final LoopGroupConfig QUIET =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT.withName("group").withObserver(new LoopObserver() {}));

    /// One server, its clients, and the model: which connections are being served.
    private static final class Scene implements AutoCloseable {
        final SimulatedWorld world;
        final Random random;
        final int max;
        final int maxPerPeer;
        final LoopGroup group;
        final GroupListener listener;
        final List<SimulatedPeer> clients = new ArrayList<>();
        final List<Stream> serving = new ArrayList<>();
        final Map<InetAddress, Integer> perPeer = new HashMap<>();
        final int descriptors;
        int served;
        boolean failed;

        Scene(long seed, int max, int maxPerPeer, Distribution distribution) {
            random = new Random(seed);
            world = SimulatedWorld.seed(seed);
            this.max = max;
            this.maxPerPeer = maxPerPeer;
            descriptors = world.openDescriptors();
            group = world.group(1 + random.nextInt(4), QUIET);
            ListenerConfig config =
                    ListenerConfig.DEFAULT
                            .withDistribution(distribution)
                            .withMaxConnections(max)
                            .withMaxConnectionsPerPeer(maxPerPeer);
            listener = Listener.on(group, new InetSocketAddress(PORT), config, this::serve);
            group.start();
        }

        private void serve(Stream stream) {
            assertThat(stream.loop().isLoopThread()).isTrue();
            served++;
            serving.add(stream);
            assertThat(serving).as("the limit").hasSizeLessThanOrEqualTo(max);
            InetAddress peer = ((InetSocketAddress) stream.peer()).getAddress();
            assertThat(perPeer.merge(peer, 1, Integer::sum))
                    .as("the limit of the peer")
                    .isLessThanOrEqualTo(maxPerPeer);
            stream.onClose(
                    _ -> {
                        assertThat(serving.remove(stream)).as("one close").isTrue();
                        perPeer.merge(peer, -1, Integer::sum);
                    });
            stream.write("welcome");
            stream.onData(stream::write);
        }

        void step() {
            switch (random.nextInt(13)) {
                case 0, 1, 2, 3, 4 -> clients.add(world.connect(PORT));
                case 5, 6 -> withAnyClient(SimulatedPeer::close);
                case 7 -> withAnyClient(SimulatedPeer::reset);
                case 8 -> closeAnyStream();
                case 9 -> world.advance(Duration.ofNanos(random.nextInt(200_000)));
                case 10 -> {
                    if (random.nextInt(20) == 0) {
                        fail(group.loops().get(random.nextInt(group.size())));
                    } else if (random.nextInt(4) == 0) {
                        pauseAndResume();
                    }
                }
                case 11 -> moveAnyStream();
                default -> settle();
            }
        }

        private void moveAnyStream() {
            if (!serving.isEmpty()) {
                Stream stream = serving.get(random.nextInt(serving.size()));
                EventLoop target = group.loops().get(random.nextInt(group.size()));
                submit(stream, () -> stream.moveTo(target, _ -> {}));
            }
        }

        /// Submits an action to the stream's loop. It has no effect if the stream moves or closes.
        private static void submit(Stream stream, Runnable action) {
            stream.loop()
                    .submit(
                            () -> {
                                try {
                                    action.run();
                                } catch (IllegalStateException
                                        | WrongThreadException
                                        | LoopTerminatedException _) {
                                    // It moves already, or is closed.
                                }
                            });
        }

        private void withAnyClient(java.util.function.Consumer<SimulatedPeer> action) {
            if (!clients.isEmpty()) {
                action.accept(clients.remove(random.nextInt(clients.size())));
            }
        }

        private void closeAnyStream() {
            if (!serving.isEmpty()) {
                Stream stream = serving.get(random.nextInt(serving.size()));
                boolean abort = random.nextBoolean();
                submit(stream, abort ? stream::abort : stream::close);
            }
        }

        private void pauseAndResume() {
            listener.pause();
            clients.add(world.connect(PORT));
            world.advance(Duration.ofNanos(random.nextInt(200_000)));
            listener.resume();
        }

        void fail(EventLoop loop) {
            if (!failed) { // Few enough that the group replaces the loop.
                failed = true;
                loop.submit(
                        () -> {
                            throw new InternalError("provoked");
                        });
            }
        }

        /// Lets everything happen that does not wait for a client, and compares with the model.
        void settle() {
            world.advance(Duration.ofMillis(20));
            clients.removeIf(client -> !client.isOpen());
            assertThat(listener.connections()).isEqualTo(serving.size());
            long waiting =
                    clients.stream().filter(client -> client.receivedText().isEmpty()).count();
            if (waiting > 0) {
                assertThat(serving)
                        .as("seed %d: %d wait, %s", world.seed(), waiting, listener)
                        .hasSize(max);
            }
        }

        @Override
        public void close() {
            settle();
            boolean idle = serving.isEmpty();
            CompletableFuture<?> drained = listener.drain(SECOND).toCompletableFuture();
            world.advance(Duration.ofMillis(100));
            assertThat(drained.isDone()).as("seed %d: drained", world.seed()).isEqualTo(idle);
            world.advance(SECOND);
            assertThat(drained).isCompleted();
            CompletableFuture<?> ended = group.shutdown(SECOND).toCompletableFuture();
            world.advance(Duration.ofSeconds(2));
            assertThat(ended).isCompleted();
            assertThat(serving).isEmpty();
            assertThat(listener.connections()).isZero();
            assertThat(listener.accepted()).isEqualTo(served + listener.refused());
            clients.forEach(SimulatedPeer::close);
            world.advance(SECOND);
            assertThat(world.openDescriptors()).isEqualTo(descriptors);
            world.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-3")
    void maxConnections_withRandomClients_holdsAndLeavesNoPlaceFree(Distribution distribution) {
        for (int seed = 0; seed < 1_000; seed++) {
            int max = 1 + seed % 20;
            try (Scene scene = new Scene(seed, max, Integer.MAX_VALUE, distribution)) {
                for (int i = 0; i < 60; i++) {
                    scene.step();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-3")
    void maxConnectionsPerPeer_withRandomClients_holdsAndLeavesNoPlaceFree(
            Distribution distribution) {
        for (int seed = 0; seed < 200; seed++) {
            int max = 1 + seed % 5;
            try (Scene scene = new Scene(seed, Integer.MAX_VALUE, max, distribution)) {
                List<Stream> clients = new ArrayList<>(); // All from the address of the world.
                for (int i = 0; i < 40; i++) {
                    if (scene.random.nextInt(3) > 0) {
                        connect(scene, clients);
                    } else if (!clients.isEmpty()) {
                        clients.remove(scene.random.nextInt(clients.size())).abort();
                    }
                    scene.world.advance(Duration.ofNanos(scene.random.nextInt(200_000)));
                }
                scene.world.advance(SECOND);
                clients.forEach(Stream::abort);
                scene.world.advance(SECOND);
                assertThat(scene.serving).isEmpty();
                assertThat(scene.listener.refused()).isPositive();
                long refused = scene.listener.refused();
                for (int i = 0; i < max + 2; i++) {
                    connect(scene, clients);
                }
                scene.world.advance(SECOND);
                assertThat(scene.serving).hasSize(max);
                assertThat(scene.listener.refused()).isEqualTo(refused + 2);
            }
        }
    }

    @Test
    @Clause("G-2")
    void leastConnections_afterManyLongLivedClients_keepsTheLoopsWithinFivePercent() {
        Random random = new Random(1);
        try (var world = SimulatedWorld.seed(1).descriptorLimit(10_000)) {
            LoopGroup group = world.group(4);
            ListenerConfig config =
                    ListenerConfig.DEFAULT.withDistribution(Distribution.LEAST_CONNECTIONS);
            GroupListener listener =
                    Listener.on(
                            group,
                            new InetSocketAddress(PORT),
                            config,
                            stream -> stream.onData(stream::write));
            group.start();
            List<SimulatedPeer> clients = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                clients.add(world.connect(PORT).send("hello"));
                if (clients.size() > 1_000) {
                    clients.remove(random.nextInt(clients.size())).close();
                }
                if (i % 10 == 0) {
                    world.advance(Duration.ofMillis(1));
                }
            }
            world.advance(SECOND);
            assertThat(listener.connections()).isEqualTo(1_000);
            for (EventLoop loop : group.loops()) {
                assertThat(listener.connections(loop)).isBetween(245, 256);
            }
        }
    }

    @Test
    @Clause("G-2")
    void leastConnections_withShortConnections_alternatesBetweenTheLoops() {
        try (var world = SimulatedWorld.seed(1)) {
            LoopGroup group = world.group(4);
            Map<EventLoop, Integer> served = new HashMap<>();
            ListenerConfig config =
                    ListenerConfig.DEFAULT.withDistribution(Distribution.LEAST_CONNECTIONS);
            GroupListener listener =
                    Listener.on(
                            group,
                            new InetSocketAddress(PORT),
                            config,
                            stream -> {
                                served.merge(stream.loop(), 1, Integer::sum);
                                stream.onData(Buffer::clear);
                                stream.onEnd(stream::close);
                            });
            group.start();
            for (int i = 0; i < 400; i++) {
                SimulatedPeer client = world.connect(PORT);
                world.advance(Duration.ofMillis(1));
                client.close();
                world.advance(Duration.ofMillis(20));
                assertThat(listener.connections()).isZero();
            }
            assertThat(served).hasSize(4);
            assertThat(served.values()).allMatch(count -> count >= 80 && count <= 120);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REUSE_PORT", "LEAST_CONNECTIONS"})
    @Clause("G-2")
    void loop_lowOnMemory_leavesFurtherClientsToAnother(Distribution distribution) {
        LoopConfig loops =
                QUIET.loopConfig().withBufferMemory(1 << 20).withReceiveBuffers(16, 4 << 10);
        try (var world = SimulatedWorld.seed(1).socketBuffers(4 << 10)) {
            LoopGroup group = world.group(2, QUIET.withLoopConfig(loops));
            List<Stream> served = new ArrayList<>();
            ListenerConfig config =
                    ListenerConfig.DEFAULT
                            .withDistribution(distribution)
                            .withStreams(StreamConfig.DEFAULT.withWaterMarks(1, 1 << 20));
            GroupListener listener =
                    Listener.on(group, new InetSocketAddress(PORT), config, served::add);
            group.start();
            world.connect(PORT);
            world.advance(SECOND);
            SimulatedPeer slow = world.connect(PORT).pauseReading();
            world.advance(SECOND);
            Stream stream = served.getLast();
            EventLoop low = stream.loop();
            int before = listener.connections(low);
            for (int i = 0; i < 52; i++) {
                low.submit(() -> stream.write(new byte[16_000]));
            }
            world.advance(SECOND);
            assertThat(stream.closeReason()).isNull();
            for (int i = 0; i < 9; i++) {
                world.connect(PORT);
                world.advance(SECOND);
            }
            assertThat(served).hasSize(11);
            // The loop discovers its state with the first connection that it receives.
            assertThat(listener.connections(low)).isEqualTo(before + 1);
            slow.resumeReading();
            for (int i = 0; i < 9; i++) {
                world.connect(PORT);
                world.advance(SECOND);
            }
            assertThat(listener.connections(low)).isGreaterThan(before + 1);
        }
    }

    private static void connect(Scene scene, List<Stream> clients) {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT);
        Promise<?> _ =
                Stream.connect(scene.world.loop(), server)
                        .thenAccept(
                                stream -> {
                                    clients.add(stream);
                                    stream.onData(Buffer::clear);
                                    stream.onClose(_ -> clients.remove(stream));
                                });
    }
}
