package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.LinuxPollSyscalls;
import dev.gyre.internal.sys.LinuxProcesses;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.Processes;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// A process whose end the loop reports: a child that was started here, or any other that was
/// adopted.
///
/// ```java
/// var command = Command.of("gzip", "-c").withInput(Stdio.PIPE).withOutput(Stdio.PIPE);
/// var child = ChildProcess.start(loop, command).onExit(exit -> IO.println(exit));
/// loop.watch(child.output(), Watch.reading(watcher -> drain(child.output())));
/// ```
///
/// No thread waits for it. A child that has ended is taken off the kernel's list of processes, as
/// soon as the callbacks that wait for its end have run; it leaves no zombie.
///
/// **Threads.** All methods but [#pid()] are loop-confined, like [EventLoop#watch].
///
/// **Order.** The end of a process and the end of its output are two events, in either order: a
/// process may end with output unread, or leave its output to another one that goes on. Wait for
/// both.
///
/// **Lifetime.** A process keeps the loop alive until its end, unless [#unreference()] was called.
/// The loop holds this object until then, and a pipe for as long as it is watched. Pipes are
/// closed by you; those that nobody can reach or watches any more are closed some time later. A
/// loop that ends first leaves the process running and does not report its end; until this process
/// ends too, or somebody else reaps it, it then stays a zombie. To end both together: `loop.own(()
/// -> child.signal(Signal.SIGTERM))`.
public final class ChildProcess {
    private final Loop loop;
    private final int pid;
    private final String name;
    private final Supplier<? extends Processes> processes;
    private final boolean started;
    private final boolean ownGroup;
    private final StandardStreams streams;

    /// Absent if the process was gone before it could be opened.
    private final @Nullable Pidfd pidfd;

    private static final int MOST_PAUSE_DOUBLINGS = 7;

    private final AutoCloseable belonging = this::loopEnds;
    private final ExitNotifier ending;

    // Loop thread only.
    private @Nullable Watcher watcher;
    private boolean referenced = true;

    /// How often the kernel has called it ended when it was not.
    private int looks;

    private ChildProcess(
            Loop loop,
            int pid,
            String name,
            Supplier<? extends Processes> processes,
            @Nullable Command command,
            StandardStreams streams,
            @Nullable Pidfd pidfd) {
        this.loop = loop;
        this.pid = pid;
        this.name = name;
        this.processes = processes;
        this.started = command != null;
        this.ownGroup = command != null && command.ownGroup();
        this.streams = streams;
        this.pidfd = pidfd;
        ending = new ExitNotifier(loop);
    }

    /// Starts a program with the standard streams of this process. The same as
    /// `start(loop, Command.of(program, arguments))`.
    public static ChildProcess start(EventLoop loop, String program, String... arguments) {
        return start(loop, Command.of(program, arguments));
    }

    /// Starts a command. The calling thread waits until the program has taken the place of this
    /// one in the new process, which takes about a millisecond, so that a refusal is told here.
    ///
    /// @throws SystemCallException if the program cannot be started, with the reason; nothing is
    ///     left of the attempt then, neither a descriptor nor a process
    /// @throws UnsupportedOperationException if the command has a directory and the C library is
    ///     too old for one
    /// @throws LoopTerminatedException if the loop is over
    public static ChildProcess start(EventLoop loop, Command command) {
        return start(loop, command, LinuxPollSyscalls::ofThread, LinuxProcesses::ofThread);
    }

    /// Reports the end of a process that somebody else started. How it ended is known only if it
    /// is a child of this process and whoever started it has not asked for it before; that is left
    /// to them.
    ///
    /// Between the moment somebody learnt the number and this call the process may have ended, and
    /// its number may be another's. From this call on there is no doubt.
    ///
    /// @throws IllegalArgumentException if the number is not positive, or larger than the kernel's
    ///     are
    /// @throws SystemCallException if there is no such process (ESRCH), or it is a thread
    /// @throws LoopTerminatedException if the loop is over
    public static ChildProcess adopt(EventLoop loop, long pid) {
        return adopt(loop, pid, LinuxPollSyscalls::ofThread, LinuxProcesses::ofThread);
    }

    static ChildProcess start(
            EventLoop loop,
            Command command,
            Supplier<? extends PollSyscalls> kernels,
            Supplier<? extends Processes> processes) {
        Objects.requireNonNull(command, "command");
        Loop owner = (Loop) loop;
        owner.requireOpenWithStack("ChildProcess.start");
        StandardStreams streams = StandardStreams.open(kernels, command);
        try {
            UnwatchableChild.refuseWhatCouldNotBeWatched(kernels, processes);
            int pid = Spawn.start(processes, command, streams);
            try {
                streams.closeTheirs();
                // Gone already means that somebody else was told of its end, or that this process
                // ignores SIGCHLD and so is told nothing.
                Pidfd pidfd = Pidfd.open(kernels, processes, pid).orElse(null);
                return new ChildProcess(
                                owner, pid, command.program(), processes, command, streams, pidfd)
                        .begin();
            } catch (Throwable e) {
                UnwatchableChild.bury(processes.get(), pid);
                throw e;
            }
        } catch (Throwable e) {
            streams.closeAll();
            throw e;
        }
    }

    static ChildProcess adopt(
            EventLoop loop,
            long pid,
            Supplier<? extends PollSyscalls> kernels,
            Supplier<? extends Processes> processes) {
        if (pid <= 0 || pid > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("no process has the number " + pid);
        }
        Loop owner = (Loop) loop;
        owner.requireOpenWithStack("ChildProcess.adopt");
        int number = (int) pid;
        Pidfd pidfd =
                Pidfd.open(kernels, processes, number)
                        .orElseThrow(
                                () ->
                                        new SystemCallException(
                                                "pidfd_open",
                                                Errno.ESRCH,
                                                "cannot adopt process " + pid,
                                                "there is no such process any more"));
        StandardStreams streams = StandardStreams.none(kernels);
        return new ChildProcess(owner, number, "adopted", processes, null, streams, pidfd).begin();
    }

    private ChildProcess begin() {
        if (pidfd == null) {
            ending.becomes(new Exit.Unknown());
            return this;
        }
        try {
            watcher =
                    loop.watch(pidfd.descriptor(), WatchSpec.reading(this::mayHaveEnded).oneShot());
            loop.own(belonging);
            return this;
        } catch (Throwable e) {
            pidfd.close();
            throw e;
        }
    }

    // ------------------------------------------------------------------ its end

    private void mayHaveEnded(Watcher ready) {
        Optional<Exit> found;
        try {
            found = Objects.requireNonNull(pidfd).look();
        } catch (SystemCallException e) {
            ended(new Exit.Unknown()); // It has ended, or the kernel would not have said so.
            throw e;
        }
        found.ifPresentOrElse(this::ended, () -> lookAgainLater(ready));
    }

    /// A process that somebody traces has ended for the kernel, but not for us before its tracer lets it go.
    /// Until then its descriptor is ready all the time.
    private void lookAgainLater(Watcher ready) {
        Duration pause = Duration.ofMillis(1L << Math.min(looks, MOST_PAUSE_DOUBLINGS));
        looks++;
        Timer timer =
                loop.after(
                        pause,
                        _ -> {
                            if (ready.isWatching()) {
                                ready.rearm();
                            }
                        });
        if (!referenced) {
            timer.unreference();
        }
    }

    private void ended(Exit how) {
        ending.becomes(how);
        // Last: until then the number is still its own, and signalGroup hits nobody else.
        loop.defer(this::forget);
    }

    private void forget() {
        loop.disown(belonging);
        release();
    }

    private void loopEnds() {
        release();
    }

    /// Also when the loop ends: a child that has ended by then need not stay a zombie.
    private void release() {
        Pidfd open = Objects.requireNonNull(pidfd);
        try {
            if (started && open.isOpen()) {
                Optional<Exit> _ = open.reap();
            }
        } finally {
            open.close();
        }
    }

    // ------------------------------------------------------------------ what users call

    /// The number of the process. Once it has ended, the kernel may give it to another one.
    /// Callable from any thread.
    public int pid() {
        return pid;
    }

    /// Whether the loop has not noticed its end yet.
    public boolean isAlive() {
        loop.requireConfinedWithStack("isAlive");
        return !ending.isKnown();
    }

    /// Runs the callback when the process has ended, after the I/O callbacks of that turn;
    /// callbacks run in the order they were added. If it has ended already the callback runs later
    /// all the same, never inside this call.
    ///
    /// @return this process
    public ChildProcess onExit(Consumer<? super Exit> callback) {
        Objects.requireNonNull(callback, "callback");
        loop.requireOpenWithStack("onExit");
        ending.tell(callback);
        return this;
    }

    /// How the process ends, as a promise: always the same one, resolved if that is known already. It is
    /// settled among the callbacks of [#onExit], at the place of the first call of this method, and
    /// keeps the loop alive no more than the process itself does.
    ///
    /// A loop that ends first rejects it with [LoopTerminatedException]; the process goes on.
    ///
    /// ```java
    /// child.exited().thenAccept(exit -> IO.println(exit));
    /// ```
    ///
    /// @throws LoopTerminatedException if the loop is over and there is no such promise yet
    public Promise<Exit> exited() {
        loop.requireConfinedWithStack("exited");
        return ending.promise();
    }

    /// The pipe to its standard input. It does not block; closing it is the end of input. Writing
    /// fails with EPIPE once nobody is left to read.
    ///
    /// @throws IllegalStateException if it was not started with `withInput(Stdio.PIPE)`
    public Descriptor input() {
        loop.requireConfinedWithStack("input");
        return streams.ours(0);
    }

    /// The pipe from its standard output. It does not block.
    ///
    /// @throws IllegalStateException if it was not started with `withOutput(Stdio.PIPE)`
    public Descriptor output() {
        loop.requireConfinedWithStack("output");
        return streams.ours(1);
    }

    /// The pipe from its standard error. It does not block.
    ///
    /// @throws IllegalStateException if it was not started with `withError(Stdio.PIPE)`
    public Descriptor error() {
        loop.requireConfinedWithStack("error");
        return streams.ours(2);
    }

    /// Sends a signal to this process, and never to another that was given its number.
    ///
    /// @return false if it has ended
    /// @throws IllegalStateException if the loop is over and has let go of it
    /// @throws SystemCallException if the kernel refuses: EPERM for a process of another user
    public boolean signal(Signal signal) {
        Objects.requireNonNull(signal, "signal");
        loop.requireConfinedWithStack("signal");
        return !ending.isKnown() && open().signal(signal);
    }

    /// Sends a signal to all processes of its group: itself and what it started, unless those have
    /// left the group. Works until the callbacks that waited for its end have run, so one of them
    /// may clear up what a child left behind.
    ///
    /// @return false if none is left, or it is too late to know the group
    /// @throws IllegalStateException if it was started without [Command#withOwnGroup()], or if the
    ///     loop is over and has let go of it
    /// @throws SystemCallException if the kernel refuses
    public boolean signalGroup(Signal signal) {
        Objects.requireNonNull(signal, "signal");
        loop.requireConfinedWithStack("signalGroup");
        if (!ownGroup) {
            throw new IllegalStateException(
                    this + " has no group of its own: start it with Command.withOwnGroup()");
        }
        if (ending.isKnown() && (pidfd == null || !pidfd.isOpen())) {
            return false; // The number may mean another group by now.
        }
        Pidfd _ = open();
        assert pid > 1 : "minus one would mean every process there is";
        int result = processes.get().kill(-pid, signal.number());
        if (result == -Errno.ESRCH) {
            return false;
        }
        if (result < 0) {
            throw new SystemCallException("kill", -result, SystemCallException.NO_FD);
        }
        return true;
    }

    private Pidfd open() {
        Pidfd found = Objects.requireNonNull(pidfd);
        if (!found.isOpen()) {
            throw new IllegalStateException(
                    this + " can no longer be signalled: its loop is over and let go of it");
        }
        return found;
    }

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although this process has not ended.
    ///
    /// @return this process
    public ChildProcess unreference() {
        loop.requireConfinedWithStack("unreference");
        referenced = false;
        if (watcher != null) {
            watcher.unreference();
        }
        return this;
    }

    /// Takes [#unreference()] back.
    ///
    /// @return this process
    public ChildProcess reference() {
        loop.requireConfinedWithStack("reference");
        referenced = true;
        if (watcher != null) {
            watcher.reference();
        }
        return this;
    }

    @Override
    public String toString() {
        return "process " + pid + " (" + name + ")";
    }
}
