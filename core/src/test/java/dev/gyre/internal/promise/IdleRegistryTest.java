package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LoopConfig;
import dev.gyre.Reachability;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.backend.ScriptedBackend.Poll;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The memory of promises that an idle loop keeps.
class IdleRegistryTest {
    private static final int MANY = 1_000_000;

    private final ScriptedBackend backend = new ScriptedBackend();
    private final Loop loop = Loop.open(LoopConfig.DEFAULT, backend);

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    @Test
    @Clause({"R-1", "L-8"})
    void idleLoop_afterAMillionPromisesSettled_keepsNothingOfThem() {
        List<Deferred<Integer>> pending = new ArrayList<>();
        loop.submit(
                () -> {
                    for (int i = 0; i < MANY; i++) {
                        pending.add(loop.deferred());
                    }
                });
        loop.runUntilEmpty();
        assertThat(loop.promises().registry.capacity()).isGreaterThan(MANY);
        loop.submit(
                () -> {
                    pending.forEach(each -> each.resolve(1));
                    pending.clear();
                });
        int[] capacityInTheWait = new int[1];
        int before = backend.polls().size();
        backend.duringWait(
                () -> {
                    capacityInTheWait[0] = loop.promises().registry.capacity();
                    loop.stop();
                });
        loop.run();
        assertThat(capacityInTheWait[0]).isEqualTo(Registry.MIN_CAPACITY);
        assertThat(backend.polls().subList(before, backend.polls().size()))
                .as("waits once, for as long as it would anyway")
                .filteredOn(Poll::blocking)
                .hasSize(1)
                .allMatch(
                        poll ->
                                poll.deadlineNanos() - backend.nanoTime()
                                        >= LoopConfig.DEFAULT.maxWait().toNanos());
        assertThat(loop.metrics().promises()).isZero();
    }

    @Test
    @Clause("R-1")
    void longWait_inWhichPromisesWereCollected_isFollowedByALookAtAll() {
        Reachability dropped =
                Reachability.of(
                        () -> {
                            for (int i = 1; i < 1_000; i++) {
                                loop.deferred();
                            }
                            return loop.deferred().promise();
                        });
        loop.runFor(Duration.ZERO);
        int capacity = loop.promises().registry.capacity();
        assertThat(capacity).isGreaterThan(Registry.MIN_CAPACITY);
        long[] left = {-1};
        loop.after(
                Duration.ofSeconds(2),
                timer -> {
                    left[0] = loop.metrics().promises();
                    loop.stop();
                });
        backend.duringWait(() -> dropped.assertLost("the last of those that were dropped"));
        loop.run();
        assertThat(left[0]).isZero();
        assertThat(loop.promises().registry.capacity()).isEqualTo(Registry.MIN_CAPACITY);
    }
}
