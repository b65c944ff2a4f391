package dev.gyre.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/// Clause V-3: a callback that blocks its loop is reported while it runs, and when it has ended.
@Timeout(60)
class WatchdogTest {
    private static final Duration LIMIT = Duration.ofSeconds(1);
    private static final long STEP = LIMIT.toNanos() / 4;
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:10Z");

    private final EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withName("serve-0"));
    private final Thread runner = Thread.ofPlatform().unstarted(loop::run);
    private final CountDownLatch release = new CountDownLatch(1);
    private final LogCapture log = new LogCapture();
    private final List<Stall> reported = new ArrayList<>();
    private long now;

    /// Driven by [#step].
    private final Watchdog watchdog =
            new Watchdog(() -> List.of(loop), () -> false, LIMIT, InstantSource.fixed(NOW))
                    .onStall(reported::add);

    @AfterEach
    void close() {
        release.countDown();
        loop.close();
        log.close();
    }

    private void step(int times) {
        for (int i = 0; i < times; i++) {
            watchdog.check(now);
            now += STEP;
        }
    }

    /// Blocks the loop in a task, until released.
    private void block() throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        loop.submit(
                () -> {
                    blocked.countDown();
                    awaitRelease();
                });
        runner.start();
        blocked.await();
        while (runner.getState() != Thread.State.WAITING) {
            Thread.onSpinWait(); // Until it is inside awaitRelease().
        }
    }

    private void awaitRelease() {
        try {
            release.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void unblock() throws InterruptedException {
        release.countDown();
        CountDownLatch ran = new CountDownLatch(1);
        loop.submit(ran::countDown);
        ran.await();
    }

    @Test
    @Clause("V-3")
    void check_ofABlockedTask_reportsItOnceTheLimitHasPassed() throws Exception {
        block();
        step(4);
        assertThat(reported).as("before the limit").isEmpty();
        step(3);
        assertThat(reported).as("once").hasSize(1);
        Stall stall = reported.getFirst();
        assertThat(stall.loop()).isEqualTo("serve-0");
        assertThat(stall.kind()).isEqualTo(CallbackKind.TASK);
        assertThat(stall.elapsed()).isEqualTo(LIMIT);
        assertThat(stall.limit()).isEqualTo(LIMIT);
        assertThat(stall.began()).isEqualTo(NOW.minus(LIMIT));
        assertThat(stall.ended()).isFalse();
        assertThat(stall.description())
                .startsWith("dev.gyre.metrics.WatchdogTest.awaitRelease(WatchdogTest.java:");
        assertThat(stall.stack()).anyMatch(frame -> frame.getMethodName().equals("awaitRelease"));
        assertThat(watchdog.recent()).containsExactly(stall);
        assertThat(log.messages()).hasSize(1);
        assertThat(log.messages().getFirst())
                .startsWith(
                        "loop serve-0 blocked for 1 000 ms (limit 1 000 ms) in "
                                + "dev.gyre.metrics.WatchdogTest.awaitRelease(")
                .contains("), TASK\n\tat ");
    }

    @Test
    @Clause("V-3")
    void check_afterTheTaskHasEnded_reportsTheEnd() throws Exception {
        block();
        step(6);
        unblock();
        step(2);
        assertThat(reported).hasSize(2);
        Stall ended = reported.getLast();
        assertThat(ended.ended()).isTrue();
        assertThat(ended.elapsed()).isEqualTo(Duration.ofNanos(6 * STEP));
        assertThat(ended.stack()).isEqualTo(reported.getFirst().stack());
        assertThat(watchdog.recent()).containsExactly(ended);
        assertThat(log.messages().getLast()).isEqualTo("loop serve-0 ran again after 1 500 ms");
    }

    @Test
    @Clause("V-3")
    void check_afterOneLongPause_blamesNoCallback() throws Exception {
        block();
        step(1);
        now += 100 * LIMIT.toNanos(); // The JVM was stopped, and the watchdog with it.
        step(1);
        assertThat(reported).isEmpty();
        step(1);
        assertThat(reported).hasSize(1);
    }

    @Test
    @Clause("V-3")
    void check_ofALoopThatWaits_reportsNothing() throws Exception {
        runner.start();
        while (loop.metrics().sleeps() == 0) {
            Thread.onSpinWait();
        }
        step(20);
        assertThat(reported).isEmpty();
    }

    @Test
    @Clause("V-3")
    void check_ofALoopThatRunsOneShortTaskPerSample_reportsNothing() throws Exception {
        runner.start();
        for (int i = 0; i < 20; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            loop.submit(ran::countDown);
            ran.await();
            step(1);
        }
        assertThat(reported).isEmpty();
    }

    @Test
    @Clause("V-3")
    void check_ofALoopThatIsReplaced_endsTheOldAndSeesTheNew() throws Exception {
        try (EventLoop next = EventLoop.open(LoopConfig.DEFAULT.withName("serve-1"))) {
            List<EventLoop> current = new ArrayList<>(List.of(loop));
            Watchdog follows =
                    new Watchdog(() -> current, () -> false, LIMIT, InstantSource.fixed(NOW))
                            .onStall(reported::add);
            block();
            for (int i = 0; i < 6; i++) {
                follows.check(i * STEP);
            }
            current.set(0, next);
            follows.check(6 * STEP);
            assertThat(reported).extracting(Stall::ended).containsExactly(false, true);
        }
    }

    @Test
    @Clause("V-3")
    void check_withAListenerThatThrows_notifiesTheOthers() throws Exception {
        List<Stall> second = new ArrayList<>();
        watchdog.onStall(
                        _ -> {
                            throw new IllegalStateException("provoked");
                        })
                .onStall(second::add);
        block();
        step(6);
        assertThat(second).isEqualTo(reported).hasSize(1);
        assertThat(log.messages()).contains("a listener of the watchdog threw");
    }

    @Test
    @Clause("V-3")
    void recent_afterManyStalls_hasTheLast100() throws Exception {
        runner.start();
        for (int i = 0; i < 103; i++) {
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            loop.submit(
                    () -> {
                        blocked.countDown();
                        try {
                            go.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    });
            blocked.await();
            step(5);
            go.countDown();
        }
        assertThat(reported).hasSizeGreaterThanOrEqualTo(103);
        assertThat(watchdog.recent()).hasSize(100);
        assertThat(watchdog.recent().getLast()).isEqualTo(reported.getLast());
    }

    @Test
    @Clause("V-3")
    void on_anImpossibleLimit_throws() {
        assertThatThrownBy(() -> Watchdog.on(loop, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("limit");
    }

    @Test
    @Clause({"V-3", "V-7"})
    void on_aGroupWithABlockedConnection_reportsConnectionPeerAndActivity() throws Exception {
        BlockingQueue<Stall> stalls = new LinkedBlockingQueue<>();
        LoopGroupConfig config =
                LoopGroupConfig.DEFAULT.withLoopConfig(LoopConfig.DEFAULT.withName("group"));
        try (LoopGroup group = LoopGroup.of(1, config);
                Watchdog _ = Watchdog.on(group, Duration.ofMillis(20)).onStall(stalls::add)) {
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            var listener = Listener.tcp(group, address, stream -> stream.protocol(new Slow()));
            group.start();
            try (Socket client = connect((InetSocketAddress) listener.address())) {
                client.getOutputStream().write('x');
                Stall stall = take(stalls, false);
                assertThat(stall.loop()).isEqualTo("group-0");
                assertThat(stall.kind()).isEqualTo(CallbackKind.IO);
                assertThat(stall.description())
                        .matches("connection \\d+ from 127\\.0\\.0\\.1:\\d+, GET /slow")
                        .contains(":" + client.getLocalPort() + ",");
                RunningCallback running =
                        group.loops().getFirst().metrics().running().orElseThrow();
                assertThat(running.description()).isEqualTo(stall.description());
                release.countDown();
                assertThat(take(stalls, true).description()).isEqualTo(stall.description());
            } finally {
                release.countDown(); // Or the group could not close.
            }
        }
    }

    /// Returns the next stall of the slow protocol. On a busy machine others may precede it.
    private static Stall take(BlockingQueue<Stall> stalls, boolean ended)
            throws InterruptedException {
        Stall stall = stalls.take();
        while (stall.ended() != ended || !stall.description().contains("GET /slow")) {
            stall = stalls.take();
        }
        return stall;
    }

    private static Socket connect(InetSocketAddress to) throws IOException {
        return new Socket(to.getAddress(), to.getPort());
    }

    private final class Slow implements Protocol {
        @Override
        public void onData(Stream stream, Buffer data) {
            data.clear();
            awaitRelease();
        }

        @Override
        public String describe(Stream stream) {
            return "GET /slow";
        }
    }

    @Test
    @Clause("V-7")
    void running_ofALoopThatWaits_isEmpty() throws Exception {
        assertThat(loop.metrics().running()).isEmpty();
        block();
        // A younger callback has no description: its stack would stop the loop.
        while (loop.metrics().running().orElseThrow().elapsed().toMillis() < 10) {
            Thread.onSpinWait();
        }
        assertThat(loop.metrics().running())
                .hasValueSatisfying(
                        running ->
                                assertThat(running.description())
                                        .contains("WatchdogTest.awaitRelease"));
    }
}
