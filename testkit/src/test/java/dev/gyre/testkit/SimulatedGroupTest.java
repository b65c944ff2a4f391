package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.GroupReport;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopState;
import dev.gyre.PerLoop;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.PortSharing;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A group of loops in a simulated world.
@On("simulated")
class SimulatedGroupTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final LoopGroupConfig QUIET =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT.withName("quiet").withObserver(new LoopObserver() {}));

    @Test
    @Clause("G-1")
    void group_beforeTheStart_doesNotRun() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> ran = new ArrayList<>();
            LoopGroup group = world.group(2);
            group.forEach(loop -> loop.submit(() -> ran.add(loop.config().name())));
            world.advance(SECOND);
            assertThat(ran).isEmpty();
            group.start();
            world.run();
            assertThat(ran).containsExactlyInAnyOrder("group-0", "group-1");
        }
    }

    @Test
    @Clause("B-6")
    void advance_withTimersOfSeveralLoops_firesThemInTheOrderOfTime() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> fired = new ArrayList<>();
            LoopGroup group = world.group(2);
            group.start();
            EventLoop first = group.loops().get(0);
            EventLoop second = group.loops().get(1);
            first.after(Duration.ofSeconds(1), _ -> fired.add("1 at " + world.elapsed()));
            second.after(Duration.ofSeconds(2), _ -> fired.add("2 at " + world.elapsed()));
            world.loop().after(Duration.ofSeconds(3), _ -> fired.add("3 at " + world.elapsed()));
            first.after(Duration.ofSeconds(4), _ -> fired.add("4 at " + world.elapsed()));
            world.advance(Duration.ofSeconds(3));
            assertThat(fired).containsExactly("1 at PT1S", "2 at PT2S", "3 at PT3S");
            world.advance(Duration.ofDays(400));
            assertThat(fired).hasSize(4);
            assertThat(world.elapsed()).isEqualTo(Duration.ofDays(400).plusSeconds(3));
        }
    }

    @Test
    @Clause("B-6")
    void submit_betweenLoops_runsWithoutTimePassing() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> ran = new ArrayList<>();
            LoopGroup group = world.group(3);
            group.start();
            pass(group, 0, 9, ran);
            world.run();
            assertThat(ran).hasSize(10).last().isEqualTo("9 on group-0 at PT0S");
        }
    }

    /// Passes a task around the loops, on both lanes in turn.
    private static void pass(LoopGroup group, int step, int last, List<String> ran) {
        EventLoop loop = group.loops().get(step % group.size());
        Runnable task =
                () -> {
                    assertThat(loop.isLoopThread()).isTrue();
                    ran.add(
                            step
                                    + " on "
                                    + loop.config().name()
                                    + " at "
                                    + Duration.ofNanos(loop.nanoTime() - 1_000_000_000L));
                    if (step < last) {
                        pass(group, step + 1, last, ran);
                    }
                };
        if (step % 2 == 0) {
            loop.submit(task);
        } else {
            loop.submitPriority(task);
        }
    }

    @Test
    @Clause("G-2")
    void connect_toASharedPort_reachesEveryLoopAndOneLoopPerConnection() {
        Map<Long, Trace> traces = new HashMap<>();
        for (long seed = 0; seed < 6; seed++) {
            Trace trace = serve(seed % 3);
            Trace same = traces.put(seed % 3, trace);
            if (same != null) {
                assertThat(trace).isEqualTo(same);
            }
        }
        assertThat(new HashSet<>(traces.values())).as("seeds differ").hasSize(3);
    }

    private static Trace serve(long seed) {
        try (var world = SimulatedWorld.seed(seed)) {
            Set<String> served = new HashSet<>();
            LoopGroup group = world.group(3);
            group.start();
            ListenerConfig shared = ListenerConfig.DEFAULT.withPortSharing(PortSharing.SHARED);
            group.forEach(
                    loop ->
                            Listener.on(
                                    loop,
                                    new InetSocketAddress(80),
                                    shared,
                                    stream -> {
                                        assertThat(stream.loop()).isSameAs(loop);
                                        served.add(loop.config().name());
                                        stream.onData(stream::write);
                                    }));
            List<SimulatedPeer> peers = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                peers.add(world.connect(80).send("hello " + i));
            }
            world.run();
            for (int i = 0; i < 30; i++) {
                assertThat(peers.get(i).receivedText()).isEqualTo("hello " + i);
            }
            assertThat(served).hasSize(3);
            return world.trace();
        }
    }

    @Test
    @Clause("B-6")
    void promisify_onAnyLoop_runsOnWorkersInTurn() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> results = new ArrayList<>();
            LoopGroup group = world.group(3);
            group.start();
            group.forEach(
                    loop -> {
                        Promise<?> delay = Promise.delay(loop, SECOND);
                        loop.promisify(
                                        _ -> {
                                            delay.await();
                                            return loop.config().name();
                                        })
                                .thenAccept(
                                        name -> {
                                            assertThat(loop.isLoopThread()).isTrue();
                                            results.add(name);
                                        });
                    });
            world.run();
            assertThat(results).isEmpty();
            world.advance(SECOND);
            assertThat(results).containsExactlyInAnyOrder("group-0", "group-1", "group-2");
        }
    }

    @Test
    @Clause("G-1")
    void vmErrorOfACallback_replacesTheLoopAndDoesNotLeaveTheRun() {
        try (var world = SimulatedWorld.seed(1)) {
            LoopGroup group = world.group(2, QUIET);
            PerLoop<Object> values = group.perLoop(_ -> new Object());
            group.start();
            EventLoop failing = group.loops().get(0);
            EventLoop other = group.loops().get(1);
            Object kept = values.get(other);
            failing.submit(
                    () -> {
                        throw new InternalError("provoked");
                    });
            world.run();
            assertThat(failing.state()).isEqualTo(LoopState.TERMINATED);
            EventLoop fresh = group.loops().get(0);
            assertThat(fresh).isNotSameAs(failing);
            assertThat(values.get(other)).isSameAs(kept);
            List<String> ran = new ArrayList<>();
            fresh.submit(() -> ran.add("fresh"));
            world.run();
            assertThat(ran).containsExactly("fresh");
            var outcome = group.shutdown(SECOND).toCompletableFuture();
            world.run();
            assertThat(outcome.join().failures())
                    .singleElement()
                    .satisfies(failure -> assertThat(failure.cause()).hasMessage("provoked"));
        }
    }

    @Test
    @Clause("L-10")
    void otherException_leavesTheRunWithSeedAndTrace() {
        try (var world = SimulatedWorld.seed(5)) {
            LoopGroup group = world.group(2);
            group.start();
            group.next()
                    .submit(
                            () -> {
                                throw new IllegalArgumentException("provoked");
                            });
            assertThatThrownBy(world::run)
                    .isInstanceOf(IllegalArgumentException.class)
                    .satisfies(
                            e -> assertThat(e.getSuppressed()[0]).hasMessageContaining("seed 5"));
            assertThat(group.isTerminated()).isFalse();
        }
    }

    @Test
    @Clause("G-1")
    void shutdown_withWorkInProgress_drainsWhileTheOtherLoopsRun() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> log = new ArrayList<>();
            LoopGroup group = world.group(2);
            group.start();
            EventLoop first = group.loops().get(0);
            Promise<?> delay = Promise.delay(world.loop(), Duration.ofSeconds(3));
            first.promisify(
                            _ -> {
                                delay.await(); // Another loop resolves it during the drain.
                                return "done";
                            })
                    .thenAccept(log::add);
            world.run();
            world.loop().after(SECOND, _ -> log.add("timer at " + world.elapsed()));
            var outcome = group.shutdown(Duration.ofSeconds(10)).toCompletableFuture();
            assertThat(outcome).isNotDone();
            world.advance(Duration.ofSeconds(2));
            assertThat(log).containsExactly("timer at PT1S");
            assertThat(outcome).isNotDone();
            world.advance(Duration.ofSeconds(2));
            assertThat(log).containsExactly("timer at PT1S", "done");
            GroupReport report = outcome.join();
            assertThat(report.isGraceful()).isTrue();
            assertThat(report.loops()).hasSize(2);
            assertThat(group.isTerminated()).isTrue();
        }
    }

    @Test
    @Clause("G-1")
    void shutdown_withWorkThatNeverEnds_endsAtTheDeadline() {
        try (var world = SimulatedWorld.seed(1)) {
            LoopGroup group = world.group(2, QUIET);
            group.start();
            EventLoop first = group.loops().get(0);
            Promise<?> never = first.deferred().promise();
            first.promisify(_ -> never.await());
            world.run();
            var outcome = group.shutdown(Duration.ofSeconds(10)).toCompletableFuture();
            world.advance(Duration.ofMillis(9_999));
            assertThat(outcome).isNotDone();
            world.advance(Duration.ofMillis(1));
            assertThat(outcome.join().isGraceful()).isFalse();
        }
    }

    @Test
    @Clause("G-1")
    void close_duringADrain_endsIt() {
        try (var world = SimulatedWorld.seed(1)) {
            LoopGroup group = world.group(2, QUIET);
            group.start();
            EventLoop first = group.loops().get(0);
            Promise<?> never = first.deferred().promise();
            first.promisify(_ -> never.await());
            world.run();
            var outcome = group.shutdown(Duration.ofSeconds(10)).toCompletableFuture();
            world.advance(SECOND);
            group.close();
            assertThat(outcome.join().isGraceful()).isFalse();
            group.close();
        }
    }

    @Test
    @Clause("G-1")
    void close_insideACallback_endsTheGroup() {
        try (var world = SimulatedWorld.seed(1)) {
            LoopGroup group = world.group(3, QUIET);
            group.start();
            group.loops().get(1).submit(group::close);
            world.run();
            assertThat(group.isTerminated()).isTrue();
            assertThat(group.loops()).allMatch(loop -> loop.state() == LoopState.TERMINATED);
            world.advance(SECOND);
        }
    }

    @Test
    @Clause("G-1")
    void close_withABufferOfAnyLoop_reportsTheLeak() {
        SimulatedWorld world = SimulatedWorld.seed(7);
        LoopGroup group = world.group(2, QUIET);
        group.start();
        Buffer.acquire(group.loops().get(1), 5_000);
        world.run();
        assertThatThrownBy(world::close)
                .isInstanceOf(SimulationError.class)
                .hasMessageContaining("was acquired here and never released");
    }

    @Test
    @Clause("G-1")
    void runAndAwait_whichWouldWaitForever_throw() throws Exception {
        try (var world = SimulatedWorld.seed(1)) {
            LoopGroup group = world.group(1);
            group.start();
            assertThatThrownBy(group::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("advance()");
            assertThatThrownBy(group::await).isInstanceOf(IllegalStateException.class);
            group.close();
            assertThat(group.await().loops()).hasSize(1);
        }
    }
}
