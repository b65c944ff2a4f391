package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.RunMode;
import dev.gyre.internal.tls.Certificates;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/// Clause G-4 with each loop on a thread of its own, from a random seed that failures name.
public abstract class StreamMoveRaceContract {
    private static final int MOVES = 1_000;
    private static final int ROUNDS = 150;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final List<EventLoop> loops = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    protected abstract EventLoop open(LoopConfig config);

    @BeforeEach
    void openLoops() {
        for (int i = 0; i < 3; i++) {
            start("racing" + i);
        }
    }

    private EventLoop start(String name) {
        EventLoop loop =
                open(LoopConfig.DEFAULT.withName(name).withObserver(new LoopObserver() {}));
        loops.add(loop);
        threads.add(Thread.ofPlatform().name(name).start(() -> loop.run(RunMode.STOPPED)));
        while (loop.thread() == null) {
            Thread.onSpinWait();
        }
        return loop;
    }

    @AfterEach
    void closeLoops() throws InterruptedException {
        loops.forEach(EventLoop::close);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    // ------------------------------------------------------------------ bytes

    /// One end of a connection that sends numbered bytes and checks those of the other end.
    private static final class End {
        private final Random random;
        private final CompletableFuture<Long> failed;
        private Stream stream;
        private long sent;
        private long received;
        private boolean finished;
        private boolean ended;

        End(long seed, CompletableFuture<Long> failed) {
            random = new Random(seed);
            this.failed = failed;
        }

        private static byte at(long position) {
            return (byte) (position * 31 + (position >> 8));
        }

        void attach(Stream of) {
            stream = of;
            of.onData(this::receive)
                    .onEnd(this::end)
                    .onWritable(this::fill)
                    .onClose(
                            reason -> {
                                if (!reason.isOrderly()) {
                                    failed.completeExceptionally(
                                            new AssertionError(
                                                    of + " closed: " + reason, of.failure()));
                                }
                            });
            fill();
        }

        private void receive(Buffer data) {
            // Leaves some bytes unread.
            int count = random.nextInt(4) == 0 ? data.readable() / 2 : data.readable();
            for (int i = 0; i < count; i++) {
                byte found = data.get();
                if (found != at(received)) {
                    failed.completeExceptionally(
                            new AssertionError("byte " + received + " is " + found));
                    throw new AssertionError("lost or duplicated bytes at " + received);
                }
                received++;
            }
            fill();
        }

        /// Writes some bytes; the peer's input and room for output trigger more.
        void fill() {
            boolean more = !finished && stream.isOpen();
            while (more) {
                byte[] bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 40_000 : 100)];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = at(sent++);
                }
                more = stream.write(bytes) && random.nextInt(4) > 0;
            }
        }

        void finish() {
            finished = true;
            stream.end();
        }

        private void end() {
            Buffer rest = stream.unread();
            while (rest.readable() > 0) {
                if (rest.get() != at(received++)) {
                    failed.completeExceptionally(new AssertionError("byte " + received));
                }
            }
            ended = true;
            if (!finished) {
                finish();
            }
        }
    }

    private void movesOften(StreamConfig serverSide, StreamConfig clientSide) throws Exception {
        CompletableFuture<Long> done = new CompletableFuture<>();
        End server = new End(random.nextLong(), done);
        End client = new End(random.nextLong(), done);
        AtomicInteger closed = new AtomicInteger();
        Listener listener =
                listen(
                        loops.get(0),
                        ListenerConfig.DEFAULT.withStreams(serverSide),
                        stream -> {
                            server.attach(stream);
                            stream.onClose(_ -> countClosed(closed, done));
                            moveNext(server, 1, done);
                        });
        loops.get(2)
                .submit(
                        () ->
                                Stream.connect(loops.get(2), listener.address(), clientSide)
                                        .then(
                                                stream -> {
                                                    client.attach(stream);
                                                    stream.onClose(_ -> countClosed(closed, done));
                                                    return null;
                                                }));
        done.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(server.received).as("seed %d", seed).isEqualTo(client.sent).isPositive();
        assertThat(client.received).as("seed %d", seed).isEqualTo(server.sent).isPositive();
        assertThat(server.ended && client.ended).isTrue();
    }

    private static void countClosed(AtomicInteger closed, CompletableFuture<Long> done) {
        if (closed.incrementAndGet() == 2) {
            done.complete(0L);
        }
    }

    private void moveNext(End end, int count, CompletableFuture<Long> done) {
        EventLoop target = loops.get(count % 2);
        end.stream.moveTo(
                target,
                stream -> {
                    if (!target.isLoopThread() || stream.loop() != target) {
                        done.completeExceptionally(new AssertionError("on the wrong thread"));
                    }
                    if (count == MOVES) {
                        end.finish();
                    } else if (random.nextInt(3) == 0) {
                        moveNext(end, count + 1, done);
                    } else {
                        end.fill();
                        laterMove(end, count + 1, random.nextInt(3), done);
                    }
                });
    }

    private void laterMove(End end, int count, int ticks, CompletableFuture<Long> done) {
        if (ticks == 0) {
            if (end.stream.isOpen()) {
                moveNext(end, count, done);
            }
        } else {
            end.stream.loop().defer(() -> laterMove(end, count, ticks - 1, done));
        }
    }

    private static Listener listen(EventLoop loop, ListenerConfig config, Consumer<Stream> accepted)
            throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        CompletableFuture<Listener> opened =
                loop.call(
                        () -> Promise.resolved(loop, Listener.on(loop, address, config, accepted)));
        return opened.get();
    }

    private static final StreamConfig SMALL =
            StreamConfig.DEFAULT
                    .withSocket(SocketOptions.DEFAULT.withBuffers(32 << 10, 32 << 10))
                    .withWaterMarks(20_000, 100_000);

    @Test
    @Clause("G-4")
    void bytes_bothWaysWhileMovingAThousandTimes_arriveOnceAndInOrder() throws Exception {
        movesOften(SMALL, SMALL);
    }

    @Test
    @Clause("G-4")
    void tlsBytes_bothWaysWhileMovingAThousandTimes_arriveOnceAndInOrder() throws Exception {
        movesOften(SMALL.withTls(Certificates.server()), SMALL.withTls(Certificates.client()));
    }

    // ------------------------------------------------------------------ ends

    /// Each round moves a stream while another event ends it. Exactly one close callback follows.
    @Test
    @Clause("G-4")
    void move_racingWithCloseResetAndShutdown_closesOnce() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            race(random.nextInt(5), round);
        }
        for (EventLoop loop : loops) {
            if (loop.state() != dev.gyre.LoopState.TERMINATED) {
                awaitNoStreams(loop);
            }
        }
    }

    private void awaitNoStreams(EventLoop loop) throws InterruptedException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (loop.metrics().streams() > 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(loop.metrics().streams()).as("seed %d", seed).isZero();
    }

    private void race(int kind, int round) throws Exception {
        EventLoop first = loops.get(0);
        EventLoop target = kind == 3 ? start("target" + round) : loops.get(1);
        EventLoop source = kind == 4 ? start("source" + round) : first;
        ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
        CountDownLatch closed = new CountDownLatch(1);
        CompletableFuture<Stream> accepted = new CompletableFuture<>();
        CompletableFuture<Stream> connected = new CompletableFuture<>();
        EventLoop clientLoop = loops.get(2);
        Listener listener =
                listen(
                        source,
                        ListenerConfig.DEFAULT,
                        stream -> {
                            stream.onClose(
                                    reason -> {
                                        events.add("closed " + reason);
                                        closed.countDown();
                                    });
                            accepted.complete(stream);
                        });
        clientLoop.submit(
                () ->
                        Stream.connect(clientLoop, listener.address())
                                .then(
                                        stream -> {
                                            stream.onData(Buffer::clear);
                                            stream.write(new byte[random(100_000)]);
                                            return connected.complete(stream);
                                        }));
        Stream server = accepted.get(10, TimeUnit.SECONDS);
        Stream client = connected.get(10, TimeUnit.SECONDS);
        source.submit(
                () -> {
                    server.onData(Buffer::clear);
                    server.write(new byte[random(1_000_000)]);
                    try {
                        server.moveTo(target, _ -> events.add("moved"));
                    } catch (LoopTerminatedException e) {
                        server.abort(); // The target ended first: the stream stays.
                    }
                });
        int delay = random(3_000);
        for (int i = 0; i < delay; i++) {
            Thread.onSpinWait();
        }
        switch (kind) {
            case 0 -> clientLoop.submit(client::abort);
            case 1 -> clientLoop.submit(client::close);
            case 2 -> source.submit(() -> listener.drain(Duration.ZERO));
            case 3 -> target.close();
            default -> {
                source.close();
                clientLoop.submit(client::abort);
            }
        }
        assertThat(closed.await(20, TimeUnit.SECONDS))
                .as("seed %d, round %d, kind %d, %s, %s", seed, round, kind, server, events)
                .isTrue();
        clientLoop.submit(client::abort);
        if (kind != 4) {
            source.submit(listener::close);
        }
        assertThat(events.stream().filter(event -> event.startsWith("closed")))
                .as("seed %d, round %d, kind %d, %s", seed, round, kind, events)
                .hasSize(1);
    }

    private int random(int bound) {
        return java.util.concurrent.ThreadLocalRandom.current().nextInt(bound);
    }
}
