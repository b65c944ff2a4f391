package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// A random program of streams in a simulated world. Both ends of some connections write, read,
/// pause, end, close and abort. Each byte encodes its position, so that arriving bytes can be
/// checked.
final class StreamProgram {
    private static final int PORT = 80;
    private static final int STEPS = 60;

    private final SimulatedWorld world;
    private final Random random;
    private final List<Connection> connections = new ArrayList<>();
    private final Listener listener;
    private final List<Stream> unclaimed = new ArrayList<>();

    /// The two ends of a connection. The second may never exist.
    private final class Connection {
        final End client = new End();
        final End server = new End();
        @Nullable Throwable refused;

        Connection() {
            client.other = server;
            server.other = client;
        }
    }

    /// One end and its state.
    private final class End {
        @Nullable Stream stream;
        @Nullable End other;
        long written;
        long read;
        boolean sawEnd;
        boolean ended;
        int closed;
        @Nullable CloseReason reason;

        void begin(Stream of) {
            stream = of;
            of.onData(this::take)
                    .onEnd(
                            () -> {
                                sawEnd = true;
                                take(of.unread(), of.unread().readable());
                            })
                    .onClose(
                            why -> {
                                closed++;
                                reason = why;
                            });
        }

        private void take(Buffer data) {
            int left = random.nextInt(4) == 0 ? random.nextInt(data.readable() + 1) : 0;
            take(data, data.readable() - left);
        }

        private void take(Buffer data, int bytes) {
            for (int i = 0; i < bytes; i++) {
                assertThat(data.get()).as("byte %d", read).isEqualTo(byteAt(read));
                read++;
            }
        }

        void act() {
            Stream here = stream;
            if (here == null || !here.isOpen()) {
                return;
            }
            switch (random.nextInt(20)) {
                case 0 -> here.pause();
                case 1 -> end(here);
                case 2 -> {
                    if (random.nextInt(5) == 0) {
                        ended = true;
                        here.close();
                    }
                }
                case 3 -> {
                    if (random.nextInt(10) == 0) {
                        here.abort();
                    }
                }
                case 4, 5, 6, 7 -> here.resume();
                default -> write(here, random.nextInt(3) == 0 ? 20_000 : 200);
            }
        }

        void end(Stream here) {
            if (!ended) {
                ended = true;
                here.end();
            }
        }

        private void write(Stream here, int most) {
            if (ended || here.pending() > 200_000) {
                return;
            }
            byte[] bytes = new byte[random.nextInt(most) + 1];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = byteAt(written + i);
            }
            if (random.nextBoolean()) {
                here.write(bytes);
            } else {
                here.lend(Buffer.allocate(bytes.length).put(bytes), returned -> {});
            }
            written += bytes.length;
        }
    }

    StreamProgram(SimulatedWorld world) {
        this.world = world;
        random = new Random(world.seed());
        listener =
                Listener.on(
                        world.loop(),
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT),
                        ListenerConfig.DEFAULT.withStreams(config()),
                        unclaimed::add);
    }

    private static byte byteAt(long place) {
        return (byte) (place % 251);
    }

    private StreamConfig config() {
        int high = 1 + random.nextInt(100_000);
        return StreamConfig.DEFAULT
                .withWaterMarks(random.nextInt(high), high)
                .withInputLimit(1 << 20)
                .withLingerTimeout(Duration.ofMillis(random.nextInt(3000)))
                .withWriteTimeout(Duration.ofSeconds(5));
    }

    void run() {
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            connect();
        }
        for (int step = 0; step < STEPS; step++) {
            for (Connection each : connections) {
                each.client.act();
                each.server.act();
            }
            world.advance(Duration.ofMillis(random.nextInt(20)));
            claim();
        }
        finish();
        check();
    }

    private void connect() {
        Connection connection = new Connection();
        connections.add(connection);
        Stream.connect(world.loop(), listener.address(), config())
                .then(
                        stream -> {
                            connection.client.begin(stream);
                            return null;
                        },
                        failure -> {
                            connection.refused = failure;
                            return null;
                        });
    }

    /// Finds the client that an accepted stream belongs to.
    private void claim() {
        unclaimed.removeIf(
                accepted -> {
                    for (Connection each : connections) {
                        Stream client = each.client.stream;
                        if (client != null
                                && each.server.stream == null
                                && belongs(client, accepted)) {
                            each.server.begin(accepted);
                            return true;
                        }
                    }
                    return false;
                });
    }

    private static boolean belongs(Stream client, Stream accepted) {
        return client.closeReason() == null && client.localAddress().equals(accepted.peer());
    }

    /// Runs until all connections have ended.
    private void finish() {
        for (int i = 0; i < 100 && world.loop().metrics().streams() > 0; i++) {
            claim();
            unclaimed.forEach(Stream::abort);
            for (Connection each : connections) {
                for (End end : List.of(each.client, each.server)) {
                    Stream here = end.stream;
                    if (here != null && here.isOpen()) {
                        here.resume();
                        end.end(here);
                    }
                }
            }
            world.advance(Duration.ofSeconds(1));
        }
        listener.close();
        world.advance(Duration.ofSeconds(1));
    }

    private void check() {
        assertThat(world.loop().metrics().streams()).as("streams left open").isZero();
        assertThat(world.loop().metrics().bufferMemory()).as("memory left in use").isZero();
        assertThat(world.loop().metrics().failures()).as("callbacks that failed").isZero();
        for (Connection each : connections) {
            check(each.client);
            check(each.server);
        }
    }

    private static void check(End end) {
        if (end.stream == null) {
            return;
        }
        assertThat(end.closed).as("ends told of %s", end.stream).isEqualTo(1);
        End other = end.other;
        assertThat(end.read).isLessThanOrEqualTo(other.written);
        if (end.sawEnd && end.reason == CloseReason.ENDED && other.reason == CloseReason.ENDED) {
            assertThat(end.read).as("all that was written").isEqualTo(other.written);
        }
    }
}
