package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Cancellation;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The registry finds a promise by its id, so ids are unique.
class PromiseIdsTest {
    @Test
    @Clause("R-1")
    void ids_countUpInTheOrderOfMaking() {
        try (EventLoop loop = EventLoop.open()) {
            List<Long> ids = new ArrayList<>();
            Promise<Integer> first = loop.<Integer>deferred().promise();
            ids.add(first.id());
            ids.add(first.then(n -> n).id());
            ids.add(Promise.all(loop, List.of(first)).id());
            ids.add(Promise.resolved(loop, 1).id());
            assertThat(ids).containsExactly(1L, 2L, 3L, 4L);
        }
    }

    @Test
    @Clause("R-1")
    void step_onAWrongThread_drawsNoId() throws InterruptedException {
        try (EventLoop loop = EventLoop.open()) {
            Promise<Integer> promise = loop.<Integer>deferred().promise();
            Thread runner = Thread.ofPlatform().start(loop::run);
            CompletableFuture<Long> next = new CompletableFuture<>();
            loop.submit(() -> {});
            while (loop.metrics().tasks() == 0) {
                Thread.onSpinWait();
            }
            List<Runnable> steps =
                    List.of(
                            () -> promise.then(n -> n),
                            () -> promise.then(n -> n, e -> 0),
                            () -> promise.thenAccept(n -> {}),
                            () -> promise.thenCompose(n -> promise),
                            () -> promise.recover(e -> 0),
                            () -> promise.recover(IllegalStateException.class, e -> 0),
                            () -> promise.recoverCompose(e -> promise),
                            () -> promise.finallyRun(() -> {}),
                            () -> promise.orTimeout(Duration.ofSeconds(1)),
                            () -> promise.cancelOn(Cancellation.none()));
            for (Runnable step : steps) {
                assertThatThrownBy(step::run).isInstanceOf(WrongThreadException.class);
            }
            loop.submit(() -> next.complete(loop.deferred().promise().id()));
            assertThat(next.join()).isEqualTo(promise.id() + 1);
            loop.stop();
            runner.join();
        }
    }
}
