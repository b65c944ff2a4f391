package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.backend.ScriptedBackend.Poll;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// How many callbacks a run or a tick runs, of each kind.
class TickCountsTest {
    enum Kind {
        TIMER,
        PRIORITY,
        EXTERNAL,
        DEFERRED,
        IO
    }

    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final List<String> log = new ArrayList<>();
    private Loop loop = Loop.open(LoopConfig.DEFAULT, backend);

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    private void configure(LoopConfig config) {
        loop.close();
        loop = Loop.open(config, backend);
    }

    private void add(Kind kind, int number) {
        String name = kind + " " + number;
        Runnable callback =
                () -> {
                    log.add(name);
                    loop.microtask(() -> log.add(name + "'"));
                };
        switch (kind) {
            case TIMER -> loop.after(Duration.ZERO, _ -> callback.run());
            case PRIORITY -> loop.submitPriority(callback);
            case EXTERNAL -> loop.submit(callback);
            case DEFERRED -> loop.defer(callback);
            case IO -> {
                loop.watch(fakes.get(number), WatchSpec.reading(_ -> callback.run()));
                backend.makeReady(number, Readiness.READ);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause({"L-7", "L-5"})
    void runOne_withThreeOfAKind_runsOneAndItsMicrotaskEachTime(Kind kind) {
        for (int i = 0; i < 3; i++) {
            add(kind, i);
        }
        for (int i = 0; i < 3; i++) {
            log.clear();
            assertThat(loop.runOne()).isEqualTo(1);
            assertThat(log).containsExactly(kind + " " + i, kind + " " + i + "'");
        }
    }

    @Test
    @Clause({"L-7", "L-5"})
    void runOne_withOneOfEachKind_runsOneEachTimeInTheOrderOfTheTick() {
        for (Kind kind : Kind.values()) {
            add(kind, 7);
        }
        for (Kind kind : Kind.values()) {
            log.clear();
            assertThat(loop.runOne()).isEqualTo(1);
            assertThat(log).containsExactly(kind + " 7", kind + " 7'");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause("L-7")
    void runSome_withThreeOfAKind_runsAllThree(Kind kind) {
        for (int i = 0; i < 3; i++) {
            add(kind, i);
        }
        assertThat(loop.runSome()).isEqualTo(3);
        assertThat(log).hasSize(6);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @Clause({"L-3", "S-1"})
    void shutdown_inTheFirstOfThree_leavesTheTickAtOnce(Kind kind) {
        List<Long> ticks = new ArrayList<>();
        Runnable ends = () -> loop.shutdown(Duration.ZERO);
        switch (kind) {
            case TIMER -> loop.after(Duration.ZERO, _ -> ends.run());
            case PRIORITY -> loop.submitPriority(ends);
            case EXTERNAL -> loop.submit(ends);
            case DEFERRED -> loop.defer(ends);
            case IO -> {
                loop.watch(fakes.get(0), WatchSpec.reading(_ -> ends.run()));
                backend.makeReady(0, Readiness.READ);
            }
        }
        add(kind, 1);
        add(kind, 2);
        loop.run();
        assertThat(log).as("no time was left for them").isEmpty();
        assertThat(ticks).isEmpty();
        assertThat(loop.metrics().callbacks()).isEqualTo(1);
    }

    // ------------------------------------------------------------------ budgets

    /// Writes that are through at once, and how many of them were handed out in each tick.
    private List<Integer> completionsPerTick(int writes) {
        List<Descriptor> pair = Sockets.pair(loop);
        Map<Long, Integer> counts = new TreeMap<>();
        for (int i = 0; i < writes; i++) {
            Operations.on(loop)
                    .write(
                            pair.getFirst(),
                            Buffer.allocate(1).put((byte) i),
                            _ -> counts.merge(loop.metrics().ticks(), 1, Integer::sum))
                    .start();
        }
        loop.runUntilEmpty();
        pair.forEach(Descriptor::close);
        return List.copyOf(counts.values());
    }

    @Test
    @Clause("O-3")
    void completions_beyondTheOperationBudget_areForTheNextTicks() {
        configure(LoopConfig.DEFAULT.withOperationBudget(2));
        assertThat(completionsPerTick(5)).containsExactly(2, 2, 1);
        assertThat(backend.polls()).as("while some are left").noneMatch(Poll::blocking);
    }

    @Test
    @Clause("O-3")
    void completions_withinTheOperationBudget_areAllOfOneTick() {
        configure(LoopConfig.DEFAULT.withOperationBudget(5));
        assertThat(completionsPerTick(5)).containsExactly(5);
    }

    @Test
    @Clause({"O-3", "L-7"})
    void runOne_withSeveralCompletions_handsOutOneEachTime() {
        List<Descriptor> pair = Sockets.pair(loop);
        for (int i = 0; i < 3; i++) {
            String name = "write " + i;
            Operations.on(loop)
                    .write(pair.getFirst(), Buffer.allocate(1).put((byte) i), _ -> log.add(name))
                    .start();
        }
        for (int i = 0; i < 3; i++) {
            assertThat(loop.runOne()).isEqualTo(1);
            assertThat(log).hasSize(i + 1).last().isEqualTo("write " + i);
        }
        pair.forEach(Descriptor::close);
    }

    @Test
    @Clause("L-5")
    void tasks_beyondTheTaskBudget_areForTheNextTicks() {
        configure(LoopConfig.DEFAULT.withTaskBudget(2));
        Map<Long, Integer> counts = new TreeMap<>();
        for (int i = 0; i < 5; i++) {
            loop.submit(() -> counts.merge(loop.metrics().ticks(), 1, Integer::sum));
        }
        loop.runUntilEmpty();
        assertThat(counts.values()).containsExactly(2, 2, 1);
    }
}
