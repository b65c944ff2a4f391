package dev.gyre.cli;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/// Keeps a command running: starts it, starts it again as the policy says, passes signals on, and ends
/// it when asked to.
///
/// ```
///            start            ends, policy wants another
///   new ──────────▶ running ───────────────────────────▶ pausing
///                   │  │  ▲                              │  │
///              stop │  │  └──────────────────────────────┘  │ stop
///                   ▼  │ ends for good      time is up      │
///             stopping │                                    │
///                   │  ▼                                    ▼
///                   └─▶ over ◀──────────────────────────────┘
/// ```
///
/// It has neither processes nor a clock of its own, only a [Host], so that a test can write the script
/// of both.
///
/// Loop thread only.
final class Supervisor {
    /// The command was not found; as shells have it.
    static final int NOT_FOUND = 127;

    /// The command was found, and cannot be run; as shells have it.
    static final int NOT_RUN = 126;

    /// Where commands run and time passes.
    interface Host {
        /// Starts the command, in a process group of its own.
        ///
        /// @param onExit is told of its end, later
        /// @throws SystemCallException if it cannot be started
        Child start(Consumer<? super Exit> onExit);

        /// Runs the callback once, later.
        ///
        /// @return takes it back; once it has run, that does nothing
        Runnable after(Duration delay, Runnable callback);

        long nowNanos();
    }

    /// The command while it runs.
    interface Child {
        int pid();

        /// Signals the process alone.
        ///
        /// @throws SystemCallException if the kernel refuses
        void signal(Signal signal);

        /// Signals the process and what it has started.
        ///
        /// @throws SystemCallException if the kernel refuses
        void signalGroup(Signal signal);
    }

    /// Who is told, in words.
    interface Listener {
        /// Something happened as it should.
        void event(String line);

        /// The system refused something.
        void refusal(String line);
    }

    private final Host host;
    private final RestartPolicy policy;
    private final Duration stopTimeout;
    private final Listener listener;
    private final IntConsumer onOver;

    private @Nullable Child child;
    private boolean everStarted;
    private long startedNanos;
    private int restarts;
    private @Nullable Signal stoppedBy;
    private @Nullable Runnable timer;
    private boolean over;

    /// @param onOver is given the exit status, once, when the command has ended for good
    Supervisor(
            Host host,
            RestartPolicy policy,
            Duration stopTimeout,
            Listener listener,
            IntConsumer onOver) {
        this.host = host;
        this.policy = policy;
        this.stopTimeout = stopTimeout;
        this.listener = listener;
        this.onOver = onOver;
    }

    /// Starts it for the first time. If that is refused it is over: what was never seen running is
    /// rather misspelt than broken for the moment.
    void start() {
        Child started;
        try {
            started = host.start(this::ended);
        } catch (SystemCallException e) {
            refused(e);
            return;
        }
        child = started;
        everStarted = true;
        startedNanos = host.nowNanos();
        listener.event("started process " + started.pid());
    }

    private void refused(SystemCallException refusal) {
        boolean missing = refusal.errno() == Errno.ENOENT || refusal.errno() == Errno.ENOTDIR;
        int status = missing ? NOT_FOUND : NOT_RUN;
        listener.refusal(String.valueOf(refusal.getMessage()));
        if (everStarted) {
            goOn(false, status);
        } else {
            end(status);
        }
    }

    private void ended(Exit exit) {
        Child gone = child;
        assert gone != null : "told twice of an end";
        // What it started and left behind might hold on to what the next one needs.
        attempt(() -> gone.signalGroup(Signal.SIGTERM));
        child = null;
        cancelTimer();
        Duration ran = Duration.ofNanos(host.nowNanos() - startedNanos);
        listener.event("process " + gone.pid() + " " + exit + " after " + inWords(ran));
        if (ran.compareTo(policy.settledAfter()) >= 0) {
            restarts = 0;
        }
        goOn(exit.isSuccess(), status(exit));
    }

    private void goOn(boolean success, int status) {
        if (stoppedBy != null || !policy.wantsAnother(success)) {
            end(status);
        } else if (restarts >= policy.most()) {
            listener.event("giving up after " + counted(restarts));
            end(status);
        } else {
            Duration pause = policy.pause(restarts);
            restarts++;
            listener.event("restarting in " + inWords(pause));
            timer = host.after(pause, this::start);
        }
    }

    /// Passes a signal on to the command.
    void pass(Signal signal) {
        Child running = child;
        if (running != null) {
            attempt(() -> running.signal(signal));
        }
    }

    /// Passes a signal on to the command and all in its group, as a terminal would.
    void passToGroup(Signal signal) {
        Child running = child;
        if (running != null) {
            attempt(() -> running.signalGroup(signal));
        }
    }

    /// Ends it: passes the signal on to the whole group, and SIGKILL after it when time is up. Called
    /// again it passes that signal on too, without more time; most programs take a second Ctrl-C for
    /// an order to hurry.
    void stop(Signal signal) {
        if (over) {
            return;
        }
        if (child == null) {
            cancelTimer();
            listener.event("stopped by " + signal + " in a pause");
            end(StopSignals.status(signal));
            return;
        }
        if (stoppedBy == null) {
            stoppedBy = signal;
            listener.event(
                    "stopping: "
                            + signal
                            + " passed on, SIGKILL follows in "
                            + inWords(stopTimeout));
            timer = host.after(stopTimeout, this::kill);
        } else {
            listener.event(signal + " passed on");
        }
        passToGroup(signal);
    }

    private void kill() {
        listener.event("still running after " + inWords(stopTimeout) + ": SIGKILL");
        passToGroup(Signal.SIGKILL);
    }

    /// Of the pause, or of the time to stop in.
    private void cancelTimer() {
        Runnable cancel = timer;
        if (cancel != null) {
            timer = null;
            cancel.run();
        }
    }

    /// A refusal is no reason to lose sight of a command that runs: it may have become another user's.
    private void attempt(Runnable signalling) {
        try {
            signalling.run();
        } catch (SystemCallException e) {
            listener.refusal("cannot pass the signal on: " + e.getMessage());
        }
    }

    private void end(int status) {
        assert !over : "told twice of the end";
        over = true;
        onOver.accept(status);
    }

    static int status(Exit exit) {
        return switch (exit) {
            case Exit.Code(int code) -> code;
            case Exit.Killed killed -> StopSignals.status(killed.number());
            case Exit.Unknown() -> 1;
        };
    }

    private static String counted(int restarts) {
        return restarts == 1 ? "1 restart" : restarts + " restarts";
    }

    /// As in `250 ms` and `12.5 s`.
    static String inWords(Duration duration) {
        long millis = duration.toMillis();
        if (millis < 1_000) {
            return millis + " ms";
        }
        return millis % 1_000 == 0
                ? millis / 1_000 + " s"
                : String.format(Locale.ROOT, "%.1f s", millis / 1e3);
    }
}
