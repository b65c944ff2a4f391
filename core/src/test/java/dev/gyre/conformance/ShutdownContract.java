package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.WatchSpec;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operations;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Chapter S.
public abstract class ShutdownContract extends ConformanceFixture {
    private static final Duration LONG = Duration.ofSeconds(10);

    private ShutdownReport report() {
        return loop.shutdown(LONG).toCompletableFuture().join();
    }

    @Test
    @Clause("S-1")
    void shutdown_finishesWhatWasAcceptedAndWhatThatLeadsTo_forAllTheOneOutcome() {
        List<CompletableFuture<ShutdownReport>> outcomes = new ArrayList<>();
        loop.submit(
                () -> {
                    outcomes.add(loop.shutdown(LONG).toCompletableFuture());
                    outcomes.add(loop.shutdown(Duration.ZERO).toCompletableFuture());
                    loop.submitPriority(
                            () -> {
                                log.add("priority");
                                loop.microtask(says("microtask"));
                                loop.defer(() -> loop.submitPriority(says("last")));
                            });
                });
        loop.submit(says("accepted before"));
        loop.run();
        assertThat(log).containsExactly("accepted before", "priority", "microtask", "last");
        outcomes.add(loop.shutdown(LONG).toCompletableFuture());
        assertThat(outcomes).hasSize(3).allMatch(CompletableFuture::isDone);
        assertThat(outcomes).extracting(CompletableFuture::join).containsOnly(report());
        assertThat(report().graceful()).isTrue();
        assertThat(report().abandoned()).isZero();
    }

    @Test
    @Clause({"S-1", "R-2"})
    void shutdown_waitsNeitherForTimersNorWatchers_andRejectsWhatIsPending() {
        loop.after(Duration.ofHours(1), timer -> log.add("never"));
        Descriptor idle = pair().get(0);
        loop.watch(idle, WatchSpec.reading(notes("never")));
        loop.deferred()
                .promise()
                .recover(
                        reason -> {
                            log.add(reason.getClass().getSimpleName());
                            return null;
                        });
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(log).containsExactly(LoopTerminatedException.class.getSimpleName());
        assertThat(report().timers()).isEqualTo(1);
        assertThat(report().watchers()).isEqualTo(1);
        assertThat(report().graceful()).isTrue();
        assertThat(idle.isOpen()).as("the descriptor is the user's").isTrue();
    }

    @Test
    @Clause({"S-1", "O-6"})
    void shutdown_cancelsOperationsThatAreUnderWay() {
        Descriptor reader = pair().get(0);
        Operations.on(loop)
                .read(reader, Buffer.allocate(8), op -> log.add("cancelled " + op.isCancelled()))
                .start();
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(log).containsExactly("cancelled true");
        assertThat(report().graceful()).isTrue();
    }

    @Test
    @Clause("S-2")
    void shutdown_pastItsDeadline_becomesACloseAndCountsWhatIsAbandoned() {
        Promise.from(loop, new CompletableFuture<>());
        loop.submit(() -> loop.shutdown(Duration.ofMillis(2)));
        loop.run();
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        assertThat(report().graceful()).isFalse();
        assertThat(report().work()).isEqualTo(1);
    }

    @Test
    @Clause({"S-1", "W-3"})
    void shutdown_withAReadableWatchedDescriptor_neitherRunsItsCallbackNorSpins() {
        List<Descriptor> pair = pair();
        Operations.on(loop).write(pair.get(1), Buffer.allocate(1).put((byte) 1), op -> {}).start();
        loop.runUntilEmpty();
        loop.watch(pair.get(0), WatchSpec.reading(notes("never")));
        Promise.from(loop, new CompletableFuture<>());
        long[] polls = {0};
        loop.submit(
                () -> {
                    loop.shutdown(Duration.ofMillis(200));
                    polls[0] = loop.metrics().polls() + loop.metrics().sleeps();
                });
        loop.run();
        assertThat(log).isEmpty();
        assertThat(loop.metrics().polls() + loop.metrics().sleeps() - polls[0])
                .as("polls of a drain of 200 ms")
                .isLessThan(50);
        assertThat(report().watchers()).isEqualTo(1);
    }

    @Test
    @Clause("S-3")
    void close_dropsWhatIsQueued_andReportsIt() {
        loop.submit(
                () -> {
                    loop.submitPriority(says("never"));
                    loop.defer(says("never"));
                    loop.microtask(says("never"));
                    loop.close();
                    log.add("the callback in progress is finished");
                });
        loop.submit(says("never"));
        loop.run();
        assertThat(log).containsExactly("the callback in progress is finished");
        assertThat(report().graceful()).isFalse();
        assertThat(report())
                .extracting(
                        ShutdownReport::tasks,
                        ShutdownReport::priorityTasks,
                        ShutdownReport::deferred,
                        ShutdownReport::microtasks)
                .containsExactly(1L, 1L, 1L, 1L);
    }

    @Test
    @Clause("S-3")
    void close_ofASleepingLoop_returnsWhenAllIsReleased() {
        long before = world().descriptors();
        EventLoop second = loop;
        configure(config());
        assertThat(second.state()).isEqualTo(LoopState.TERMINATED);
        Thread runner = runAndSleep();
        loop.close();
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        assertThat(world().descriptors()).isLessThanOrEqualTo(before);
        join(runner);
    }

    @Test
    @Clause("S-4")
    void close_ofALoopThatNeverRan_leaksNothing() {
        loop.submit(says("never"));
        loop.close();
        assertThat(report().tasks()).isEqualTo(1);
        long before = world().descriptors();
        for (int i = 0; i < 200; i++) {
            EventLoop another = world().open(config());
            if (i % 2 == 0) {
                another.close();
            } else {
                assertThat(another.shutdown(LONG).toCompletableFuture()).isCompleted();
            }
        }
        assertThat(world().descriptors()).isLessThanOrEqualTo(before);
        assertThat(log).isEmpty();
    }
}
