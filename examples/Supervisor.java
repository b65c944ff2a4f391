/// Keeps a program running: restarts it when it fails, after a growing pause. Forwards Ctrl-C and
/// SIGTERM, and then exits with it. The arguments are the program and its arguments.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Command;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;
import dev.gyre.os.Stdio;

final EventLoop loop = EventLoop.open();
Command command;
ChildProcess child;
Timer restart;
Duration pause = Duration.ofMillis(100);
boolean ending;

void main(String[] arguments) {
    try (loop) {
        // Its own process group: otherwise Ctrl-C would reach it twice.
        command = Command.of(List.of(arguments)).withInput(Stdio.NULL).withOwnGroup();
        restart = loop.after(Duration.ZERO, timer -> start());
        Signals.on(loop, SIGINT, SIGTERM, this::end);
        loop.runUntilEmpty(); // The child and the timer keep the loop alive, the signals do not.
    }
}

void start() {
    try {
        child = ChildProcess.start(loop, command).onExit(this::ended);
    } catch (SystemCallException e) {
        startLater(e.getMessage());
    }
}

void ended(Exit exit) {
    if (ending || exit.isSuccess()) {
        IO.println(exit);
    } else {
        startLater(exit.toString());
    }
}

void startLater(String reason) {
    IO.println(reason + "; restarting in " + pause.toMillis() + " ms");
    restart.reschedule(pause);
    pause = pause.toSeconds() < 10 ? pause.multipliedBy(2) : pause;
}

void end(Signal signal) {
    ending = true;
    if (!restart.cancel()) {
        child.signalGroup(signal);
    }
}
