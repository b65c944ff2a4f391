package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.internal.sys.FaultyProcessCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

/// Real programs, from start to exit. [CommandTest] has their environment.
class ChildProcessTest {
    private static Command shell(String script, String... arguments) {
        return Command.of("sh", "-c", script).withArguments(List.of(arguments));
    }

    private static Command piped(Command command) {
        return command.withOutput(Stdio.PIPE);
    }

    private static Exit exitOf(Command command) {
        try (EventLoop loop = GuardedLoop.open()) {
            AtomicReference<Exit> exit = new AtomicReference<>();
            ChildProcess.start(loop, command).onExit(exit::set);
            loop.runUntilEmpty();
            return exit.get();
        }
    }

    // ------------------------------------------------------------------ exits

    @Test
    @Clause("Y-1")
    void exit_ofAProgramThatReturns_isItsCode() {
        assertThat(exitOf(Command.of("true"))).isEqualTo(new Exit.Code(0));
        assertThat(exitOf(Command.of("false"))).isEqualTo(new Exit.Code(1));
        assertThat(exitOf(shell("exit 255"))).isEqualTo(new Exit.Code(255));
    }

    @Test
    @Clause("Y-1")
    void exit_ofAProgramThatIsKilled_isTheSignal() {
        assertThat(exitOf(shell("kill -s KILL $$"))).isEqualTo(new Exit.Killed(9, false));
        assertThat(exitOf(shell("kill -s TERM $$"))).isEqualTo(new Exit.Killed(15, false));
    }

    @Test
    @Clause("Y-1")
    void exit_byARealTimeSignal_hasANumberAndNoName() {
        Exit exit = exitOf(shell("kill -40 $$"));
        assertThat(exit).isEqualTo(new Exit.Killed(40, false));
        assertThat(((Exit.Killed) exit).signal()).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void onExit_severalTimes_runsEachInOrder() {
        try (EventLoop loop = GuardedLoop.open()) {
            List<String> order = new ArrayList<>();
            ChildProcess child =
                    ChildProcess.start(loop, "true")
                            .onExit(exit -> order.add("first"))
                            .onExit(exit -> order.add("second"));
            assertThat(child.isAlive()).isTrue();
            loop.runUntilEmpty();
            assertThat(order).containsExactly("first", "second");
            assertThat(child.isAlive()).isFalse();
        }
    }

    @Test
    @Clause("Y-1")
    void onExit_afterTheExit_isStillToldAndNeverInsideTheCall() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            loop.runUntilEmpty();
            List<Exit> told = new ArrayList<>();
            child.onExit(told::add);
            assertThat(told).isEmpty();
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(0));
        }
    }

    @Test
    @Clause("Y-1")
    void onExit_thatThrows_doesNotKeepTheOthersFromBeingToldNorTheChildFromBeingReaped() {
        try (EventLoop loop = GuardedLoop.open()) {
            List<Exit> told = new ArrayList<>();
            ChildProcess child =
                    ChildProcess.start(loop, "true")
                            .onExit(
                                    exit -> {
                                        throw new IllegalStateException("mine");
                                    })
                            .onExit(told::add);
            assertThatThrownBy(loop::runUntilEmpty).hasMessage("mine");
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(0));
            assertThat(FaultyProcessCalls.isThere(child.pid())).isFalse();
        }
    }

    @Test
    @Clause("Y-1")
    void start_ofTwoHundredAtOnce_reapsThemAllAndLeavesNoDescriptor() {
        long before = OpenDescriptors.count();
        List<Integer> expected = new ArrayList<>();
        List<Integer> codes = new ArrayList<>();
        List<Integer> pids = new ArrayList<>();
        try (EventLoop loop = GuardedLoop.open()) {
            for (int i = 0; i < 200; i++) {
                expected.add(i);
                ChildProcess child =
                        ChildProcess.start(loop, shell("exit $0", Integer.toString(i)));
                child.onExit(exit -> codes.add(((Exit.Code) exit).code()));
                pids.add(child.pid());
            }
            loop.runUntilEmpty();
        }
        assertThat(codes).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(pids).doesNotHaveDuplicates().noneMatch(FaultyProcessCalls::isThere);
        assertThat(OpenDescriptors.count())
                .as("a descriptor is left open")
                .isLessThanOrEqualTo(before);
    }

    @Test
    @Clause("Y-1")
    void start_fromACallback_works() {
        try (EventLoop loop = GuardedLoop.open()) {
            List<Exit> told = new ArrayList<>();
            ChildProcess.start(loop, "true")
                    .onExit(first -> ChildProcess.start(loop, "false").onExit(told::add));
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(1));
        }
    }

    // ------------------------------------------------------------------ streams

    @Test
    @Clause("Y-1")
    void output_isReadToItsEnd() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    ChildProcess.start(
                            loop, piped(shell("echo out; echo err >&2")).withError(Stdio.PIPE));
            Collected output = Collected.from(loop, child.output());
            Collected error = Collected.from(loop, child.error());
            loop.runUntilEmpty();
            assertThat(output.text()).isEqualTo("out\n");
            assertThat(error.text()).isEqualTo("err\n");
        }
    }

    @Test
    @Clause("Y-1")
    void output_thatOutlivesTheProcess_isReadToItsEnd() {
        try (EventLoop loop = GuardedLoop.open()) {
            String script = "exec 3<&0; (read line <&3; echo late) & exit 7";
            ChildProcess child =
                    ChildProcess.start(loop, piped(shell(script)).withInput(Stdio.PIPE));
            Collected output = Collected.from(loop, child.output());
            List<Exit> told = new ArrayList<>();
            child.onExit(
                    exit -> {
                        told.add(exit);
                        child.input().close(); // Now its own child goes on.
                    });
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(7));
            assertThat(output.text()).isEqualTo("late\n");
        }
    }

    @Test
    @Clause("Y-1")
    void output_thatOnlyTheLoopWatches_isHeldUntilItsEnd() {
        try (EventLoop loop = GuardedLoop.open()) {
            StringBuilder text = new StringBuilder();
            // Exits at once, and leaves its output to a process that waits for the end of input.
            startAndForget(loop, "exec 3<&0; (read line <&3; echo late) & exit 0", text);
            loop.runUntilEmpty();
            assertThat(text).hasToString("late\n");
        }
    }

    /// A method of its own, so that no reference stays on the test's stack.
    private static void startAndForget(EventLoop loop, String script, StringBuilder text) {
        ChildProcess child = ChildProcess.start(loop, piped(shell(script)).withInput(Stdio.PIPE));
        loop.watch(
                child.output(),
                WatchSpec.reading(
                        watcher -> {
                            ByteBuffer buffer = ByteBuffer.allocate(64);
                            int count = watcher.descriptor().read(buffer);
                            if (count == Descriptor.END) {
                                watcher.descriptor().close();
                            } else {
                                text.append(new String(buffer.array(), 0, count, UTF_8));
                            }
                        }));
        Descriptor input = child.input();
        List<Descriptor> inputs = new ArrayList<>(List.of(input));
        child.onExit(
                exit ->
                        // By now the loop has released the child.
                        loop.after(
                                Duration.ZERO,
                                timer -> {
                                    collectGarbage();
                                    inputs.removeFirst().close();
                                }));
    }

    private static void collectGarbage() {
        WeakReference<Object> sentinel = new WeakReference<>(new Object());
        while (sentinel.get() != null) {
            System.gc();
        }
        try (Pipe _ = Pipe.open()) {
            // Opening a descriptor closes unreachable ones.
        }
    }

    @Test
    @Clause("Y-1")
    void inputAndOutput_ofAMegabyteWithBothPipesFull_comeBackAsTheyWent() {
        byte[] sent = new byte[1 << 20];
        new Random(42).nextBytes(sent);
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    ChildProcess.start(loop, piped(Command.of("cat")).withInput(Stdio.PIPE));
            ByteBuffer left = ByteBuffer.wrap(sent);
            Descriptor input = child.input();
            while (input.write(left) > 0) {
                // Until the pipe is full: the output of cat is not read.
            }
            assertThat(left.remaining()).as("two pipes hold less than this").isPositive();
            loop.watch(
                    input,
                    WatchSpec.writing(
                            watcher -> {
                                int _ = input.write(left);
                                if (!left.hasRemaining()) {
                                    input.close();
                                }
                            }));
            Collected output = Collected.from(loop, child.output());
            loop.runUntilEmpty();
            assertThat(output.bytes()).isEqualTo(sent);
        }
    }

    @Test
    @Clause("Y-1")
    void input_ofAProcessThatIsGone_isRefusedWithEpipe() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, Command.of("true").withInput(Stdio.PIPE));
            loop.runUntilEmpty();
            assertThatThrownBy(() -> child.input().write(ByteBuffer.allocate(1)))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessageContaining("EPIPE");
            child.input().close();
        }
    }

    @Test
    @Clause("Y-1")
    void streams_thatAreNoPipes_areRefusedByName() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            assertThatThrownBy(child::input)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("standard input")
                    .hasMessageContaining("Stdio.PIPE");
            assertThatThrownBy(child::output).hasMessageContaining("standard output");
            assertThatThrownBy(child::error).hasMessageContaining("standard error");
            loop.runUntilEmpty();
        }
    }

    // ------------------------------------------------------------------ signals

    @Test
    @Clause("Y-1")
    void signal_reachesTheProcess_andNobodyOnceItHasEnded() {
        try (EventLoop loop = GuardedLoop.open()) {
            List<Exit> told = new ArrayList<>();
            ChildProcess child = ChildProcess.start(loop, "sleep", "100").onExit(told::add);
            assertThat(child.signal(Signal.SIGTERM)).isTrue();
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Killed(15, false));
            assertThat(child.signal(Signal.SIGTERM)).isFalse();
        }
    }

    @Test
    @Clause("Y-1")
    void signalGroup_reachesWhatTheProcessStarted() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    ChildProcess.start(
                            loop, piped(shell("sleep 100 & echo ready; wait")).withOwnGroup());
            List<Exit> told = new ArrayList<>();
            child.onExit(told::add);
            Descriptor output = child.output();
            ByteBuffer text = ByteBuffer.allocate(64);
            List<Boolean> sent = new ArrayList<>();
            loop.watch(
                    output,
                    WatchSpec.reading(
                            watcher -> {
                                if (output.read(text) == Descriptor.END) {
                                    output.close(); // The sleep had it open too.
                                } else if (sent.isEmpty()) {
                                    sent.add(child.signalGroup(Signal.SIGTERM));
                                }
                            }));
            loop.runUntilEmpty();
            assertThat(sent).containsExactly(true);
            assertThat(told).containsExactly(new Exit.Killed(15, false));
            assertThat(output.isOpen()).isFalse();
        }
    }

    @Test
    @Clause("Y-1")
    void signalGroup_inOnExit_clearsUpWhatTheProcessLeft_andIsTooLateAfterwards() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    ChildProcess.start(loop, piped(shell("sleep 100 &")).withOwnGroup());
            Collected output = Collected.from(loop, child.output());
            List<Boolean> sent = new ArrayList<>();
            child.onExit(
                    exit -> {
                        assertThat(FaultyProcessCalls.isThere(child.pid()))
                                .as("until it is reaped, its number is nobody else's")
                                .isTrue();
                        sent.add(child.signalGroup(Signal.SIGKILL));
                    });
            loop.runUntilEmpty();
            assertThat(sent).containsExactly(true);
            assertThat(output.ended()).as("the sleep had it open, and is gone").isTrue();
            assertThat(child.signalGroup(Signal.SIGKILL)).isFalse();
            assertThat(FaultyProcessCalls.isThere(child.pid())).isFalse();
        }
    }

    @Test
    @Clause("Y-1")
    void signalGroup_withoutAnOwnGroup_isRefused() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            assertThatThrownBy(() -> child.signalGroup(Signal.SIGTERM))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("withOwnGroup");
            loop.runUntilEmpty();
        }
    }

    // ------------------------------------------------------------------ adoption

    @Test
    @Clause("Y-1")
    void adopt_ofAGrandchild_tellsItsEndAndNotHow() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child =
                    ChildProcess.start(loop, piped(shell("sleep 100 & echo $!; wait")));
            Descriptor output = child.output();
            ByteBuffer text = ByteBuffer.allocate(64);
            List<Exit> told = new ArrayList<>();
            loop.watch(
                    output,
                    WatchSpec.reading(
                            watcher -> {
                                if (output.read(text) == Descriptor.END) {
                                    output.close();
                                    return;
                                }
                                String number =
                                        new String(text.array(), 0, text.position(), UTF_8).strip();
                                ChildProcess sleep =
                                        ChildProcess.adopt(loop, Long.parseLong(number));
                                sleep.onExit(told::add);
                                assertThat(sleep.signal(Signal.SIGKILL)).isTrue();
                            }));
            loop.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Unknown());
            assertThat(child.isAlive()).isFalse();
        }
    }

    @Test
    @Clause("Y-1")
    void adopt_ofAChild_tellsHowItEndedAndLeavesItToWhoStartedIt() {
        try (EventLoop first = GuardedLoop.open();
                EventLoop second = GuardedLoop.open()) {
            ChildProcess started =
                    ChildProcess.start(first, Command.of("cat").withInput(Stdio.PIPE));
            List<Exit> told = new ArrayList<>();
            ChildProcess adopted = ChildProcess.adopt(second, started.pid()).onExit(told::add);
            started.input().close();
            second.runUntilEmpty();
            assertThat(adopted.isAlive()).isFalse();
            started.onExit(told::add);
            first.runUntilEmpty();
            assertThat(told).containsExactly(new Exit.Code(0), new Exit.Code(0));
        }
    }

    @Test
    @Clause("Y-1")
    void adopt_ofNobody_isRefused() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            loop.runUntilEmpty();
            assertThatThrownBy(() -> ChildProcess.adopt(loop, child.pid()))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessage(
                            "cannot adopt process "
                                    + child.pid()
                                    + ": ESRCH (3): no such process exists");
            assertThatThrownBy(() -> ChildProcess.adopt(loop, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("0");
            assertThatThrownBy(() -> ChildProcess.adopt(loop, 1L << 40))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    // ------------------------------------------------------------------ the loop

    @Test
    @Clause("Y-1")
    void unreference_letsTheLoopEndItsRunAlthoughTheProcessLives() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "sleep", "100").unreference();
            assertThat(loop.runUntilEmpty()).isZero();
            assertThat(child.isAlive()).isTrue();
            child.signal(Signal.SIGKILL);
            child.reference();
            loop.runUntilEmpty();
            assertThat(child.isAlive()).isFalse();
            child.unreference().reference();
        }
    }

    @Test
    @Clause("Y-1")
    void close_whileTheProcessRuns_leavesItRunningAndGivesTheDescriptorsBack() {
        long before = OpenDescriptors.count();
        EventLoop loop = GuardedLoop.open();
        List<Exit> told = new ArrayList<>();
        ChildProcess child =
                ChildProcess.start(loop, Command.of("cat").withInput(Stdio.PIPE)).onExit(told::add);
        loop.close();
        assertThatThrownBy(() -> child.signal(Signal.SIGTERM))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("its loop has terminated");
        assertThatThrownBy(() -> child.onExit(told::add))
                .isInstanceOf(LoopTerminatedException.class);
        assertThatThrownBy(() -> ChildProcess.start(loop, "true"))
                .isInstanceOf(LoopTerminatedException.class);
        // Still running: another loop sees its exit.
        try (EventLoop other = GuardedLoop.open()) {
            ChildProcess.adopt(other, child.pid()).onExit(told::add);
            child.input().close();
            other.runUntilEmpty();
        }
        assertThat(told).containsExactly(new Exit.Code(0));
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }

    @Test
    @Clause("Y-1")
    void close_afterTheEndThatNobodyNoticed_leavesNoZombie() {
        EventLoop loop = GuardedLoop.open();
        ChildProcess child = ChildProcess.start(loop, Command.of("true"));
        try (EventLoop other = GuardedLoop.open()) {
            ChildProcess.adopt(other, child.pid());
            other.runUntilEmpty(); // Now it has ended.
        }
        assertThat(FaultyProcessCalls.isThere(child.pid())).isTrue();
        loop.close();
        assertThat(FaultyProcessCalls.isThere(child.pid())).isFalse();
    }

    @Test
    @Clause("Y-1")
    void own_canEndTheProcessWithTheLoop() {
        EventLoop loop = GuardedLoop.open();
        ChildProcess child = ChildProcess.start(loop, "sleep", "100");
        loop.own(() -> child.signal(Signal.SIGTERM));
        List<Exit> told = new ArrayList<>();
        try (EventLoop other = GuardedLoop.open()) {
            ChildProcess.adopt(other, child.pid()).onExit(told::add);
            loop.close();
            other.runUntilEmpty();
        }
        assertThat(told).hasSize(1);
    }

    @Test
    @Clause("Y-1")
    void methods_onAnotherThread_areRefused() {
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, "true");
            List<Throwable> thrown = new ArrayList<>();
            loop.submit(
                    () -> {
                        Thread other =
                                Thread.ofPlatform()
                                        .start(
                                                () -> {
                                                    try {
                                                        child.signal(Signal.SIGTERM);
                                                    } catch (WrongThreadException e) {
                                                        thrown.add(e);
                                                    }
                                                    try {
                                                        ChildProcess.start(loop, "true");
                                                    } catch (WrongThreadException e) {
                                                        thrown.add(e);
                                                    }
                                                });
                        try {
                            other.join();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    });
            loop.runUntilEmpty();
            assertThat(thrown).hasSize(2);
        }
    }
}
