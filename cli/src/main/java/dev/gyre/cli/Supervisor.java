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

/// Keeps a command running: starts it, restarts it by a policy, forwards signals, and stops it on
/// request.
///
/// ```
///            start          exits, policy wants a restart
///   new ──────────▶ running ───────────────────────────▶ pausing
///                   │  │  ▲                              │  │
///              stop │  │  └──────────────────────────────┘  │ stop
///                   ▼  │ exits, no restart   pause ends     │
///             stopping │                                    │
///                   │  ▼                                    ▼
///                   └─▶ finished ◀──────────────────────────┘
/// ```
///
/// Processes and time come from a [Host], which a test can script.
///
/// Loop thread only.
final class Supervisor {
    /// The command was not found; same as in shells.
    static final int NOT_FOUND = 127;

    /// The command was found but cannot be run; same as in shells.
    static final int NOT_RUN = 126;

    /// Runs commands and timers.
    interface Host {
        /// Starts the command in its own process group.
        ///
        /// @param onExit called later with the exit
        /// @throws SystemCallException if it cannot be started
        Child start(Consumer<? super Exit> onExit);

        /// Runs the callback once, later.
        ///
        /// @return cancels the callback; has no effect once it has run
        Runnable after(Duration delay, Runnable callback);

        long nowNanos();
    }

    /// A running command.
    interface Child {
        int pid();

        /// Signals the process alone.
        ///
        /// @throws SystemCallException if the kernel refuses
        void signal(Signal signal);

        /// Signals the process group.
        ///
        /// @throws SystemCallException if the kernel refuses
        void signalGroup(Signal signal);
    }

    /// Receives messages.
    interface Listener {
        /// An expected event.
        void event(String line);

        /// An error of the system.
        void error(String line);
    }

    private final Host host;
    private final RestartPolicy policy;
    private final Duration stopTimeout;
    private final Listener listener;
    private final IntConsumer onFinished;

    private @Nullable Child child;
    private boolean everStarted;
    private long startedNanos;
    private int restarts;
    private @Nullable Signal stoppedBy;
    private @Nullable Runnable timer;
    private boolean finished;

    /// @param onFinished receives the exit status, once, when the command will not be restarted
    Supervisor(
            Host host,
            RestartPolicy policy,
            Duration stopTimeout,
            Listener listener,
            IntConsumer onFinished) {
        this.host = host;
        this.policy = policy;
        this.stopTimeout = stopTimeout;
        this.listener = listener;
        this.onFinished = onFinished;
    }

    /// Starts it for the first time. A failure is final: a command that never ran is probably
    /// misspelt, not temporarily broken.
    void start() {
        Child started;
        try {
            started = host.start(this::ended);
        } catch (SystemCallException e) {
            startFailed(e);
            return;
        }
        child = started;
        everStarted = true;
        startedNanos = host.nowNanos();
        listener.event("started process " + started.pid());
    }

    private void startFailed(SystemCallException refusal) {
        boolean missing = refusal.errno() == Errno.ENOENT || refusal.errno() == Errno.ENOTDIR;
        int status = missing ? NOT_FOUND : NOT_RUN;
        listener.error(String.valueOf(refusal.getMessage()));
        if (everStarted) {
            restartOrFinish(false, status);
        } else {
            finish(status);
        }
    }

    private void ended(Exit exit) {
        Child gone = child;
        assert gone != null : "exit reported twice";
        // Leftover processes of the group might hold resources that the next run needs.
        attempt(() -> gone.signalGroup(Signal.SIGTERM));
        child = null;
        cancelTimer();
        Duration ran = Duration.ofNanos(host.nowNanos() - startedNanos);
        listener.event("process " + gone.pid() + " " + exit + " after " + format(ran));
        if (ran.compareTo(policy.settledAfter()) >= 0) {
            restarts = 0;
        }
        restartOrFinish(exit.isSuccess(), status(exit));
    }

    private void restartOrFinish(boolean success, int status) {
        if (stoppedBy != null || !policy.wantsAnother(success)) {
            finish(status);
        } else if (restarts >= policy.maxRestarts()) {
            listener.event("giving up after " + counted(restarts));
            finish(status);
        } else {
            Duration pause = policy.pause(restarts);
            restarts++;
            listener.event("restarting in " + format(pause));
            timer = host.after(pause, this::start);
        }
    }

    /// Forwards a signal to the command.
    void forward(Signal signal) {
        Child running = child;
        if (running != null) {
            attempt(() -> running.signal(signal));
        }
    }

    /// Forwards a signal to the command's process group, as a terminal would.
    void forwardToGroup(Signal signal) {
        Child running = child;
        if (running != null) {
            attempt(() -> running.signalGroup(signal));
        }
    }

    /// Stops it: forwards the signal to the process group, and sends SIGKILL after the timeout. A
    /// second call forwards its signal too, with the same deadline: most programs treat a second
    /// Ctrl-C as "stop now".
    void stop(Signal signal) {
        if (finished) {
            return;
        }
        if (child == null) {
            cancelTimer();
            listener.event("stopped by " + signal + " during the restart pause");
            finish(StopSignals.status(signal));
            return;
        }
        if (stoppedBy == null) {
            stoppedBy = signal;
            listener.event("stopping: " + signal + " forwarded, SIGKILL in " + format(stopTimeout));
            timer = host.after(stopTimeout, this::kill);
        } else {
            listener.event(signal + " forwarded");
        }
        forwardToGroup(signal);
    }

    private void kill() {
        listener.event("still running after " + format(stopTimeout) + ": sending SIGKILL");
        forwardToGroup(Signal.SIGKILL);
    }

    /// Cancels the restart pause or the stop timeout.
    private void cancelTimer() {
        Runnable cancel = timer;
        if (cancel != null) {
            timer = null;
            cancel.run();
        }
    }

    /// An error must not stop the supervision: the command may have changed its user.
    private void attempt(Runnable signalling) {
        try {
            signalling.run();
        } catch (SystemCallException e) {
            listener.error("cannot forward the signal: " + e.getMessage());
        }
    }

    private void finish(int status) {
        assert !finished : "finished twice";
        finished = true;
        onFinished.accept(status);
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

    /// Formats as in `250 ms` and `12.5 s`.
    static String format(Duration duration) {
        long millis = duration.toMillis();
        if (millis < 1_000) {
            return millis + " ms";
        }
        return millis % 1_000 == 0
                ? millis / 1_000 + " s"
                : String.format(Locale.ROOT, "%.1f s", millis / 1e3);
    }
}
