package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Command;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;

import java.time.Duration;
import java.util.function.Consumer;

/// Runs real processes and uses a loop's timers. If the loop fails, a command that still runs
/// receives SIGTERM.
final class LoopHost implements Supervisor.Host {
    private final EventLoop loop;
    private final Command command;

    /// @param command the command, which gets its own process group
    LoopHost(EventLoop loop, Command command) {
        this.loop = loop;
        this.command = command.withOwnGroup();
    }

    private record Running(ChildProcess process) implements Supervisor.Child {
        @Override
        public int pid() {
            return process.pid();
        }

        @Override
        public void signal(Signal signal) {
            boolean _ = process.signal(signal); // false if it has exited
        }

        @Override
        public void signalGroup(Signal signal) {
            boolean _ = process.signalGroup(signal);
        }
    }

    @Override
    public Supervisor.Child start(Consumer<? super Exit> onExit) {
        Running running = new Running(ChildProcess.start(loop, command));
        AutoCloseable failing = () -> running.signalGroup(Signal.SIGTERM);
        loop.own(failing);
        running.process.onExit(
                exit -> {
                    loop.disown(failing);
                    onExit.accept(exit);
                });
        return running;
    }

    @Override
    public Runnable after(Duration delay, Runnable callback) {
        Timer timer = loop.after(delay, fired -> callback.run());
        return timer::cancel;
    }

    @Override
    public long nowNanos() {
        return loop.nowNanos();
    }
}
