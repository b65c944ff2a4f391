package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.os.Command;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

final class LoopHostTest {
    private static final LoopConfig CONFIG =
            LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE);

    private static final Command SLEEPER = Command.of("sleep", "1000");

    @Test
    void loop_endedWhileTheCommandRuns_terminatesIt() throws Exception {
        ProcessHandle handle;
        try (EventLoop loop = EventLoop.open(CONFIG)) {
            Supervisor.Child child = new LoopHost(loop, SLEEPER).start(exit -> {});
            handle = ProcessHandle.of(child.pid()).orElseThrow();
        }
        ProcessHandle _ = handle.onExit().get(60, TimeUnit.SECONDS);
    }

    @Test
    void end_ofTheCommand_isToldAndLeavesTheLoopNothingToDo() {
        List<Exit> ends = new ArrayList<>();
        try (EventLoop loop = EventLoop.open(CONFIG)) {
            Supervisor.Child child = new LoopHost(loop, SLEEPER).start(ends::add);
            child.signal(Signal.SIGKILL);
            long _ = loop.runUntilEmpty();
            child.signalGroup(Signal.SIGTERM); // too late, and no reason to fail
        }
        assertThat(ends).containsExactly(new Exit.Killed(9, false));
    }

    @Test
    void timer_takenBack_doesNotRun() {
        List<String> ran = new ArrayList<>();
        try (EventLoop loop = EventLoop.open(CONFIG)) {
            LoopHost host = new LoopHost(loop, SLEEPER);
            Runnable cancel = host.after(Duration.ZERO, () -> ran.add("cancelled"));
            Runnable _ = host.after(Duration.ZERO, () -> ran.add("kept"));
            cancel.run();
            long _ = loop.runUntilEmpty();
            cancel.run();
        }
        assertThat(ran).containsExactly("kept");
    }
}
