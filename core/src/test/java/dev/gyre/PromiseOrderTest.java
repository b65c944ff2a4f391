package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;

/// The order of promise handlers among all other callbacks of a loop, for every kind of run.
class PromiseOrderTest {
    private static final LoopConfig QUIET =
            LoopConfig.DEFAULT
                    .withFailurePolicy(FailurePolicy.PROPAGATE)
                    .withObserver(new LoopObserver() {});

    /// The kinds of runs. Each continues until [World#end()].
    enum Kind {
        RUN,
        RUN_DRAINED,
        RUN_ONE,
        RUN_SOME,
        RUN_UNTIL_EMPTY,
        RUN_FOR
    }

    /// A loop on a scripted kernel with a few watched descriptors.
    private static final class World implements OrderProgram.Machine {
        final ScriptedBackend backend = new ScriptedBackend();
        final FakeDescriptors descriptors = new FakeDescriptors();
        final List<String> log = new ArrayList<>();
        final EventLoop loop;
        private final List<Deque<Runnable>> readers = new ArrayList<>();
        private final List<Deferred<String>> deferreds = new ArrayList<>();
        private final List<Promise<?>> promises = new ArrayList<>();
        private boolean ended;

        World(LoopConfig config) {
            loop = Loop.open(config, backend);
            for (int fd = 0; fd < OrderProgram.DESCRIPTORS; fd++) {
                Deque<Runnable> waiting = new ArrayDeque<>();
                readers.add(waiting);
                loop.watch(
                        descriptors.get(fd),
                        WatchSpec.reading(
                                        ready -> {
                                            for (int left = waiting.size(); left > 0; left--) {
                                                waiting.remove().run();
                                            }
                                        })
                                .edgeTriggered());
            }
            for (int i = 0; i < OrderProgram.DEFERREDS; i++) {
                deferreds.add(loop.deferred());
                promises.add(deferreds.getLast().promise());
            }
            loop.after(Duration.ofNanos(500), timer -> end());
        }

        private void end() {
            for (int fd = 0; fd < OrderProgram.DESCRIPTORS; fd++) {
                loop.unwatch(descriptors.get(fd));
            }
            ended = true;
            loop.stop();
        }

        List<String> run(Kind kind) {
            while (!ended) {
                switch (kind) {
                    case RUN -> loop.run();
                    case RUN_DRAINED -> loop.run(RunMode.DRAINED);
                    case RUN_ONE -> loop.runOne();
                    case RUN_SOME -> loop.runSome();
                    case RUN_UNTIL_EMPTY -> loop.runUntilEmpty();
                    case RUN_FOR -> loop.runFor(Duration.ofNanos(15));
                }
            }
            loop.close();
            return log;
        }

        Runnable says(String word) {
            return () -> log.add(word);
        }

        /// Logs the word, and enqueues a promise with two steps and a microtask after it.
        Runnable saysAndThen(String word) {
            return () -> {
                log.add(word);
                Deferred<String> deferred = loop.deferred();
                deferred.promise()
                        .thenAccept(value -> log.add(word + " then"))
                        .thenAccept(value -> log.add(word + " then then"));
                deferred.resolve(word);
                loop.microtask(says(word + " microtask"));
            };
        }

        @Override
        public void microtask(Runnable callback) {
            loop.microtask(callback);
        }

        @Override
        public void defer(Runnable callback) {
            loop.defer(callback);
        }

        @Override
        public void submit(Runnable callback) {
            loop.submit(callback);
        }

        @Override
        public void submitPriority(Runnable callback) {
            loop.submitPriority(callback);
        }

        @Override
        public void after(long nanos, Runnable callback) {
            loop.after(Duration.ofNanos(nanos), timer -> callback.run());
        }

        @Override
        public void ready(int descriptor, Runnable callback) {
            readers.get(descriptor).add(callback);
            backend.setCondition(descriptor, Readiness.READ);
        }

        @Override
        public boolean resolve(int deferred) {
            return deferreds.get(deferred).resolve("");
        }

        @Override
        public boolean reject(int deferred) {
            return deferreds.get(deferred).reject(new IllegalStateException("drawn"));
        }

        @Override
        @SuppressWarnings("unchecked") // those of the deferreds come first
        public boolean follow(int deferred, int promise) {
            return deferreds.get(deferred).follow((Promise<String>) promises.get(promise));
        }

        @Override
        public int promises() {
            return promises.size();
        }

        @Override
        public void then(int promise, Runnable callback) {
            promises.add(promises.get(promise).thenAccept(value -> callback.run()));
        }

        @Override
        public void finallyRun(int promise, Runnable callback) {
            promises.add(promises.get(promise).finallyRun(callback::run));
        }

        @Override
        public void thenCompose(int promise, Runnable callback, int followed) {
            Promise<?> other = promises.get(followed);
            promises.add(
                    promises.get(promise)
                            .thenCompose(
                                    value -> {
                                        callback.run();
                                        return other;
                                    }));
        }
    }

    // ------------------------------------------------------------------ by hand

    private static List<String> withHandlers(String... words) {
        List<String> all = new ArrayList<>();
        for (String word : words) {
            all.addAll(List.of(word, word + " then", word + " microtask", word + " then then"));
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause({"P-1", "M-1", "L-5"})
    void handlers_ofEveryKindOfCallback_runBehindItAndBeforeTheNext(Kind kind) {
        World world = new World(QUIET.withStrictMicrotasks(true));
        world.ready(1, world.saysAndThen("io 1"));
        world.ready(0, world.saysAndThen("io 0"));
        world.defer(world.saysAndThen("deferred"));
        world.submit(world.saysAndThen("task a"));
        world.submit(world.saysAndThen("task b"));
        world.submitPriority(world.saysAndThen("priority a"));
        world.submitPriority(world.saysAndThen("priority b"));
        world.after(0, world.saysAndThen("timer a"));
        world.after(0, world.saysAndThen("timer b"));
        assertThat(world.run(kind))
                .isEqualTo(
                        withHandlers(
                                "timer a",
                                "timer b",
                                "priority a",
                                "priority b",
                                "task a",
                                "task b",
                                "deferred",
                                "io 0",
                                "io 1"));
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = "RUN_ONE") // which drains after each callback (L-7)
    @Clause({"P-1", "M-1"})
    void handlers_ofIoCallbacks_runOnceABatch(Kind kind) {
        World world = new World(QUIET.withIoBatch(2));
        for (int fd = 0; fd < 3; fd++) {
            world.ready(fd, world.saysAndThen("io " + fd));
        }
        assertThat(world.run(kind))
                .containsExactly(
                        "io 0",
                        "io 1",
                        "io 0 then",
                        "io 0 microtask",
                        "io 1 then",
                        "io 1 microtask",
                        "io 0 then then",
                        "io 1 then then",
                        "io 2",
                        "io 2 then",
                        "io 2 microtask",
                        "io 2 then then");
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause({"P-1", "M-1"})
    void handlers_andMicrotasks_areOneQueue(Kind kind) {
        World world = new World(QUIET);
        world.submit(
                () -> {
                    Deferred<String> first = world.loop.deferred();
                    Deferred<String> second = world.loop.deferred();
                    second.promise().thenAccept(value -> world.log.add("2nd"));
                    first.promise().thenAccept(value -> world.log.add("1st"));
                    world.loop.microtask(world.says("microtask before"));
                    first.resolve("");
                    world.loop.microtask(world.says("microtask between"));
                    second.resolve("");
                    world.loop.microtask(world.says("microtask behind"));
                    first.promise().thenAccept(value -> world.log.add("1st, attached last"));
                });
        assertThat(world.run(kind))
                .containsExactly(
                        "microtask before",
                        "1st",
                        "microtask between",
                        "2nd",
                        "microtask behind",
                        "1st, attached last");
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause({"P-1", "M-2"})
    void chain_beyondTheMicrotaskBudget_goesOnInTheNextTicksInTheSameOrder(Kind kind) {
        List<Integer> breaches = new ArrayList<>();
        LoopObserver observer =
                new LoopObserver() {
                    @Override
                    public void onMicrotaskBudgetExceeded(EventLoop loop, int remaining) {
                        breaches.add(remaining);
                    }
                };
        World world = new World(QUIET.withObserver(observer).withMicrotaskBudget(10));
        List<Long> ticks = new ArrayList<>();
        Promise<Integer> left = Promise.resolved(world.loop, 0);
        Promise<Integer> right = Promise.resolved(world.loop, 0);
        for (int i = 0; i < 25; i++) {
            left = left.then(n -> counted(world, "left ", n, ticks));
            right = right.then(n -> counted(world, "right ", n, ticks));
        }
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            expected.add("left " + i);
            expected.add("right " + i);
        }
        assertThat(world.run(kind)).isEqualTo(expected);
        assertThat(ticks).as("ten to each tick").isEqualTo(tens(ticks.getFirst()));
        assertThat(breaches).containsExactly(2, 2, 2, 2);
    }

    private static int counted(World world, String side, int number, List<Long> ticks) {
        world.log.add(side + number);
        ticks.add(world.loop.metrics().ticks());
        return number + 1;
    }

    private static List<Long> tens(long first) {
        return IntStream.range(0, 50).mapToObj(i -> first + i / 10).toList();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause({"P-1", "M-2", "L-5"})
    void chain_beyondTheMicrotaskBudget_letsTimersTasksAndIoGoOnBetween(Kind kind) {
        World world = new World(QUIET.withMicrotaskBudget(2));
        Promise<Integer> chain = Promise.resolved(world.loop, 0);
        for (int i = 0; i < 5; i++) {
            chain = chain.then(n -> counted(world, "step ", n, new ArrayList<>()));
        }
        world.after(0, world.says("timer"));
        world.submit(() -> world.submit(world.says("task of the next tick")));
        world.ready(0, world.says("io"));
        assertThat(world.run(kind))
                .containsExactly(
                        "timer",
                        "step 0",
                        "step 1",
                        "io",
                        "task of the next tick",
                        "step 2",
                        "step 3",
                        "step 4");
    }

    // ------------------------------------------------------------------ against the model

    @Property(tries = 1_000)
    @Clause({"P-1", "L-5", "L-7", "M-1", "M-2"})
    void anyProgram_inEveryKindOfRun_keepsTheOrderOfTheModel(
            @ForAll long seed, @ForAll boolean tightBudgets, @ForAll boolean strict) {
        LoopConfig config = QUIET.withIoBatch(2).withStrictMicrotasks(strict).withTaskBudget(2);
        LoopConfig drawn = tightBudgets ? config.withMicrotaskBudget(3) : config;
        for (Kind kind : Kind.values()) {
            World world = new World(drawn);
            new OrderProgram(seed).begin(world, world.log);
            assertThat(world.run(kind))
                    .as("in the order of docs/SEMANTICS.md, by %s", kind)
                    .isEqualTo(modelled(seed, kind, drawn));
        }
    }

    private static List<String> modelled(long seed, Kind kind, LoopConfig config) {
        // A run of one callback drains microtasks after each callback.
        OrderModel model =
                new OrderModel(kind == Kind.RUN_ONE ? config.withStrictMicrotasks(true) : config);
        List<String> log = new ArrayList<>();
        new OrderProgram(seed).begin(model, log);
        model.run();
        return log;
    }
}
