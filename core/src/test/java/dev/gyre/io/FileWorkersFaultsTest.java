package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.operation.FileOpenOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;

/// Executors that reject work, delay it, or finish after the loop terminates.
@On("epoll")
class FileWorkersFaultsTest extends FaultFixture {
    private String mood = "";
    private final Deque<Runnable> held = new ArrayDeque<>();

    @Override
    protected LoopConfig config() {
        return super.config()
                .withExecutor(
                        task -> {
                            switch (mood) {
                                case "rejects" -> throw new RejectedExecutionException("injected");
                                case "fails" -> throw new IllegalStateException("injected");
                                case "no threads" -> throw new OutOfMemoryError("injected");
                                case "runs and fails" -> {
                                    task.run();
                                    throw new RejectedExecutionException("injected");
                                }
                                case "holds" -> held.add(task);
                                default -> task.run();
                            }
                        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"rejects", "fails", "no threads"})
    @Clause({"O-5", "E-3"})
    void executor_thatRefuses_isAFailureAndTheNextStartWorks(String how) {
        Descriptor file = file();
        Buffer buffer = Buffer.allocate(16);
        Operation read = operations.readAt(file, 0, buffer, note("read"));
        mood = how;
        read.start();
        runUntilDone(read);
        mood = "";
        read.start();
        runUntilDone(read);
        String refused = how.equals("no threads") ? "read ENOMEM" : "read EAGAIN";
        assertThat(completed).containsExactly(refused, "read 6");
    }

    @Test
    @Clause("O-6")
    void executor_thatRunsItAndRefusesIt_completesItOnce() {
        Operation read = operations.readAt(file(), 0, Buffer.allocate(16), note("read"));
        mood = "runs and fails";
        read.start();
        runUntilDone(read);
        settle();
        assertThat(completed).containsExactly("read 6");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rejects", "fails", "no threads"})
    @Clause({"O-7", "E-3"})
    void close_thatTheExecutorRefuses_closesAllTheSame(String how) {
        Descriptor file = file();
        long before = OpenDescriptors.count();
        mood = how;
        Operation close = operations.close(file, note("close")).start();
        runUntilDone(close);
        assertThat(completed).containsExactly("close 0");
        assertThat(OpenDescriptors.count()).isLessThan(before);
    }

    @Test
    @Clause({"O-6", "O-7"})
    void close_cancelledBeforeAnyoneCameToIt_closesAllTheSame() {
        Descriptor file = file();
        long before = OpenDescriptors.count();
        mood = "holds";
        Operation close = operations.close(file, note("close")).start();
        assertThat(close.cancel()).isTrue();
        held.remove().run();
        runUntilDone(close);
        assertThat(completed).hasSize(1);
        assertThat(OpenDescriptors.count()).isLessThan(before);
    }

    @Test
    @Clause("O-6")
    void read_cancelledBeforeAnyoneCameToIt_isNotMade() {
        Descriptor file = file();
        mood = "holds";
        Operation read = operations.readAt(file, 0, Buffer.allocate(8), note("read")).start();
        assertThat(read.cancel()).isTrue();
        held.remove().run();
        runUntilDone(read);
        assertThat(completed).containsExactly("read cancelled");
        assertThat(plan.count("pread")).isZero();
    }

    /// The result is in the priority lane when the loop is closed, and never runs.
    @Test
    @Clause({"O-7", "S-3"})
    void result_thatTheEndOvertakes_leavesNoNumberOpen() {
        Descriptor file = file();
        Operation read = operations.readAt(file, 0, Buffer.allocate(8), note("read"));
        FileOpenOperation open =
                operations.open(directory.resolve("file"), op -> note("open").accept(op));
        long before = OpenDescriptors.count();
        read.start();
        open.start();
        file.close();
        assertThat(OpenDescriptors.count()).as("opened, and one still used").isGreaterThan(before);
        loop.close();
        assertThat(completed).isEmpty();
        assertThat(OpenDescriptors.count()).isLessThan(before);
        loop = open(config());
        operations = Operations.on(loop);
    }

    @Test
    @Clause({"O-7", "S-3"})
    void work_thatTheEndOvertakes_isNotMadeButCloses() {
        Descriptor file = file();
        Descriptor other = file();
        mood = "holds";
        long before = OpenDescriptors.count();
        operations.open(directory.resolve("file"), op -> {}).start();
        operations.readAt(file, 0, Buffer.allocate(8), note("read")).start();
        operations.close(other, note("close")).start();
        file.close();
        loop.close();
        held.forEach(Runnable::run);
        assertThat(completed).isEmpty();
        assertThat(plan.count("pread")).isZero();
        assertThat(OpenDescriptors.count()).as("two files fewer").isLessThanOrEqualTo(before - 2);
        mood = "";
        loop = open(config());
        operations = Operations.on(loop);
    }
}
