package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.BoundedExecutor;
import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.Clause;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;

/// Work on an executor with pushback into the stream.
public abstract class StreamProcessContract extends StreamFixture {
    /// Work that the test runs itself.
    private final Queue<Runnable> given = new ArrayDeque<>();

    private final BoundedExecutor executor = BoundedExecutor.bounded(given::add, 1, 0);

    private void runWork() {
        given.remove().run();
    }

    private void assertCancelledByClose(Promise<?> result) {
        assertThat(failure(result))
                .isInstanceOf(CancelledException.class)
                .hasCauseInstanceOf(StreamClosedException.class);
    }

    private void processEachInput() {
        server.onData(
                data -> {
                    String text = data.getText(US_ASCII);
                    events.add("data " + text);
                    server.process(
                                    executor,
                                    _ -> {
                                        events.add("work " + text);
                                        return text;
                                    })
                            .thenAccept(result -> events.add("done " + result))
                            .thenAccept(_ -> events.add("later"));
                });
    }

    @Test
    @Clause("G-5")
    void process_pausesTheInputUntilTheHandlersHaveRun() {
        connect();
        processEachInput();
        client.write("a");
        awaitEvent("data a");
        assertThat(server.isPaused()).isTrue();
        assertThat(server.state()).isEqualTo(StreamState.PROCESSING);
        client.write("b");
        settle();
        assertThat(events).containsExactly("data a");
        runWork();
        awaitEvent("data b");
        assertThat(events).containsExactly("data a", "work a", "done a", "later", "data b");
        runWork();
        awaitEvent("later");
        runUntil("resumed", () -> !server.isPaused());
    }

    @Test
    @Clause("G-5")
    void process_fullExecutor_waitsForItsTurnAndIsNotOvertaken() {
        connect();
        executor.execute(() -> events.add("other work"));
        Promise<String> result = server.process(executor, _ -> "done");
        assertThat(executor.waiting()).isEqualTo(1);
        assertThatThrownBy(() -> executor.execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class);
        runWork();
        assertThat(executor.waiting()).isZero();
        runWork();
        assertThat(outcome(result)).isEqualTo("done");
        assertThat(executor.rejected()).isEqualTo(1);
        assertThat(executor.completed()).isEqualTo(2);
    }

    @Test
    @Clause("G-5")
    void close_whileTheWorkWaits_removesIt() {
        connect();
        executor.execute(() -> {});
        Promise<String> result =
                server.process(
                        executor,
                        _ -> {
                            throw new AssertionError("it ran");
                        });
        server.abort();
        assertCancelledByClose(result);
        assertThat(executor.waiting()).isZero();
        runWork();
        assertThat(given).isEmpty();
    }

    @Test
    @Clause("G-5")
    void reset_whileTheWorkWaits_removesIt() {
        connect();
        executor.execute(() -> {});
        Promise<String> result = server.process(executor, _ -> "never");
        client.abort();
        assertCancelledByClose(result);
        assertThat(executor.waiting()).isZero();
    }

    @Test
    @Clause("G-5")
    void close_whileTheWorkRuns_cancelsIt() {
        connect();
        List<Cancellation> cancellations = new ArrayList<>();
        Promise<String> result =
                server.process(
                        executor,
                        cancellation -> {
                            server.abort(); // On the loop's thread here, which no run has entered.
                            runUntil("closed", cancellation::isCancelled);
                            cancellations.add(cancellation);
                            return "too late";
                        });
        runWork();
        assertCancelledByClose(result);
        assertThat(cancellations).hasSize(1);
    }

    @Test
    @Clause("G-5")
    void process_workThrows_rejectsAndTheInputResumes() {
        connect();
        record("server", server);
        Promise<String> result =
                server.process(
                        executor,
                        _ -> {
                            throw new IllegalArgumentException("provoked");
                        });
        client.write("x");
        runWork();
        assertThat(failure(result)).hasMessage("provoked");
        awaitEvent("server x");
    }

    @Test
    @Clause("G-5")
    void process_twiceAtOnce_throws() {
        connect();
        Promise<String> first = server.process(executor, _ -> "first");
        assertThatThrownBy(() -> server.process(executor, _ -> "second"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is processing");
        runWork();
        assertThat(outcome(first)).isEqualTo("first");
    }

    @Test
    @Clause("G-5")
    void process_againInAHandler_staysPaused() {
        connect();
        record("server", server);
        client.write("x");
        Promise<String> both =
                server.process(executor, _ -> "first")
                        .thenCompose(_ -> server.process(executor, _ -> "second"));
        runWork();
        runUntil("second", () -> !given.isEmpty());
        settle();
        assertThat(server.isPaused()).isTrue();
        assertThat(events).isEmpty();
        runWork();
        assertThat(outcome(both)).isEqualTo("second");
        awaitEvent("server x");
    }

    @Test
    @Clause("G-5")
    void process_ofAPausedStream_leavesItPaused() {
        connect();
        record("server", server);
        server.pause();
        Promise<String> result = server.process(executor, _ -> "done");
        client.write("x");
        runWork();
        outcome(result);
        settle();
        assertThat(server.isPaused()).isTrue();
        server.resume();
        awaitEvent("server x");
    }

    @Test
    @Clause("G-5")
    void pause_duringProcess_keepsTheInputPaused() {
        connect();
        Promise<String> result = server.process(executor, _ -> "done");
        server.pause();
        runWork();
        outcome(result);
        settle();
        assertThat(server.isPaused()).isTrue();
    }

    @Test
    @Clause("G-5")
    void process_ofAClosedStream_rejects() {
        connect();
        server.abort();
        Promise<String> result = server.process(executor, _ -> "never");
        assertThat(failure(result)).isInstanceOf(StreamClosedException.class);
        assertThat(given).isEmpty();
    }

    @Test
    @Clause({"G-4", "G-5"})
    void moveTo_duringProcess_throws() {
        connect();
        Promise<String> result = server.process(executor, _ -> "done");
        assertThatThrownBy(() -> server.moveTo(loop))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is processing");
        runWork();
        outcome(result);
        server.moveTo(loop);
        assertThat(server.isPaused()).as("resumed before the move").isFalse();
    }
}
