package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.sys.FaultyProcessCalls;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The exit of a process as a promise.
class ChildProcessPromiseTest {
    /// A process that lives until its input is closed.
    private static ChildProcess startCat(EventLoop loop) {
        return ChildProcess.start(loop, Command.of("cat").withInput(Stdio.PIPE));
    }

    @Test
    @Clause("Y-1")
    void exited_ofAProcessThatEnds_isResolvedWithHow() {
        try (EventLoop loop = GuardedLoop.open()) {
            List<Exit> told = new ArrayList<>();
            ChildProcess.start(loop, "false").exited().thenAccept(told::add);
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(1));

            ChildProcess killed = ChildProcess.start(loop, "sleep", "100");
            killed.exited().thenAccept(told::add);
            killed.signal(Signal.SIGKILL);
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(1), new Exit.Killed(9, false));
        }
    }

    @Test
    @Clause("Y-1")
    void exited_amongCallbacks_hasThePlaceOfItsFirstCall() {
        try (EventLoop loop = GuardedLoop.open()) {
            List<String> order = new ArrayList<>();
            ChildProcess child = startCat(loop);
            child.onExit(exit -> order.add("first callback"));
            Promise<Exit> promise = child.exited();
            promise.thenAccept(exit -> order.add("first handler"));
            child.onExit(exit -> order.add("second callback"));
            assertThat(child.exited()).as("the same every time").isSameAs(promise);
            child.exited().thenAccept(exit -> order.add("second handler"));
            child.input().close();
            loop.runUntilEmpty();
            assertThat(order)
                    .containsExactly(
                            "first callback", "first handler", "second handler", "second callback");
            assertThat(child.exited()).as("the same afterwards").isSameAs(promise);
        }
    }

    @Test
    @Clause("Y-1")
    void exited_ofAProcessThatHasEnded_isResolvedAlready() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            loop.runUntilEmpty();
            assertThat(child.exited().outcome())
                    .isEqualTo(new Outcome.Resolved<>(new Exit.Code(0)));
            assertThat(child.exited()).isSameAs(child.exited());
        }
    }

    @Test
    @Clause("Y-1")
    void exited_ofAnAdoptedProcess_tellsItsEnd() {
        try (EventLoop loop = GuardedLoop.open();
                EventLoop other = GuardedLoop.open()) {
            ChildProcess child = startCat(loop);
            List<Exit> told = new ArrayList<>();
            ChildProcess.adopt(other, child.pid()).exited().thenAccept(told::add);
            child.input().close();
            other.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(0));
            loop.runUntilEmpty();
        }
    }

    @Test
    @Clause("Y-1")
    void exited_itsHandlers_runBeforeTheNumberCanBeAnothers() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    ChildProcess.start(
                            loop,
                            Command.of("sh", "-c", "sleep 100 &")
                                    .withOutput(Stdio.PIPE)
                                    .withOwnGroup());
            Collected output = Collected.from(loop, child.output());
            List<Boolean> sent = new ArrayList<>();
            child.exited()
                    .then(exit -> FaultyProcessCalls.isThere(child.pid()))
                    .thenAccept(
                            there -> {
                                sent.add(there);
                                sent.add(child.signalGroup(Signal.SIGKILL));
                            });
            loop.runUntilEmpty();
            assertThat(sent).as("still there, and its group reached").containsExactly(true, true);
            assertThat(output.ended()).as("the sleep had it open, and is gone").isTrue();
            assertThat(FaultyProcessCalls.isThere(child.pid())).as("a zombie").isFalse();
        }
    }

    // ------------------------------------------------------------------ the loop

    @Test
    @Clause({"Y-1", "L-8"})
    void exited_pending_keepsTheLoopAliveNoMoreThanTheProcess() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = startCat(loop).unreference();
            Promise<Exit> exited = child.exited();
            assertThat(loop.runUntilEmpty()).isZero();
            assertThat(exited.isSettled()).isFalse();
            child.reference().input().close();
            loop.runUntilEmpty();
            assertThat(exited.outcome()).isEqualTo(new Outcome.Resolved<>(new Exit.Code(0)));
        }
    }

    @Test
    @Clause({"Y-1", "R-2"})
    void exited_whenTheLoopIsClosedFirst_isRejected() {
        EventLoop loop = GuardedLoop.open();
        ChildProcess child = startCat(loop);
        ChildProcess unasked = startCat(loop);
        Promise<Exit> exited = child.exited();
        loop.close();
        assertThat(exited.outcome())
                .isInstanceOfSatisfying(
                        Outcome.Rejected.class,
                        rejected ->
                                assertThat(rejected.reason())
                                        .isInstanceOf(LoopTerminatedException.class));
        assertThat(child.exited()).isSameAs(exited);
        assertThatThrownBy(unasked::exited).isInstanceOf(LoopTerminatedException.class);
        child.input().close();
        unasked.input().close();
    }

    @Test
    @Clause({"Y-1", "R-2", "S-1"})
    void exited_whenTheLoopIsShutDownFirst_isRejectedAndItsHandlersRun() {
        EventLoop loop = GuardedLoop.open();
        ChildProcess child = startCat(loop);
        List<String> told = new ArrayList<>();
        child.exited()
                .recover(
                        LoopTerminatedException.class,
                        end -> {
                            told.add("given up");
                            return new Exit.Unknown();
                        })
                .thenAccept(exit -> told.add(exit.toString()));
        CompletableFuture<ShutdownReport> report = new CompletableFuture<>();
        loop.submit(() -> loop.shutdown(Duration.ofMinutes(1)).thenAccept(report::complete));
        loop.run();
        assertThat(told).containsExactly("given up", new Exit.Unknown().toString());
        assertThat(report.join().graceful()).as("a process is not work of the loop's").isTrue();
        assertThat(report.join().promises()).isEqualTo(1);
        child.input().close();
    }

    @Test
    @Clause("Y-1")
    void exited_neverAskedFor_isNotCountedAmongPendingPromises() {
        EventLoop loop = GuardedLoop.open();
        ChildProcess child = startCat(loop);
        CompletableFuture<ShutdownReport> report =
                loop.shutdown(Duration.ZERO).toCompletableFuture();
        assertThat(report.join().promises()).isZero();
        child.input().close();
    }

    @Test
    @Clause({"Y-1", "P-4"})
    void exited_awaitedByAVirtualThread_givesTheExit() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = startCat(loop);
            Promise<Exit> exited = child.exited();
            child.input().close();
            Promise<Exit> awaited = loop.promisify(c -> exited.await());
            loop.runUntilEmpty();
            assertThat(awaited.outcome()).isEqualTo(new Outcome.Resolved<>(new Exit.Code(0)));
        }
    }

    @Test
    @Clause({"Y-1", "L-9"})
    void exited_onAnotherThread_isRefused() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            List<Throwable> refusals = new ArrayList<>();
            loop.submit(
                    () ->
                            loop.promisify(c -> child.exited())
                                    .thenAccept(
                                            promise -> refusals.add(new AssertionError(promise)))
                                    .recover(
                                            refusal -> {
                                                refusals.add(refusal);
                                                return null;
                                            }));
            loop.runUntilEmpty();
            assertThat(refusals)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            WrongThreadException.class,
                            refusal -> assertThat(refusal).hasMessageContaining("exited"));
        }
    }
}
