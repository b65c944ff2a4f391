package dev.gyre.internal.os;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxProcessCalls;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.ProcessCalls;
import dev.gyre.io.Descriptor;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Command;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// A process that a loop watches by its [Pidfd].
public final class WatchedProcess implements ChildProcess {
    private static final int MAX_RETRY_DOUBLINGS = 7;

    /// `waitid` without a `siginfo_t`, which Linux allows.
    private static final long NO_SIGINFO = 0;

    private final Loop loop;
    private final int pid;
    private final String name;
    private final Supplier<? extends ProcessCalls> processes;
    private final boolean started;
    private final boolean ownGroup;
    private final ChildStdio stdio;

    /// `null` if the process was gone before it could be opened.
    private final @Nullable Pidfd pidfd;

    /// Released by the loop when it terminates.
    private final AutoCloseable ownership = this::release;

    // Loop thread only.
    private @Nullable Watcher watcher;
    private boolean referenced = true;
    private int retries;
    private final List<Consumer<? super Exit>> callbacks = new ArrayList<>();
    private @Nullable Exit exit;

    /// Created at the first request: an unused one would count as pending when the loop terminates.
    private @Nullable Deferred<Exit> exited;

    private WatchedProcess(
            Loop loop,
            int pid,
            String name,
            Supplier<? extends ProcessCalls> processes,
            @Nullable Command command,
            ChildStdio stdio,
            @Nullable Pidfd pidfd) {
        this.loop = loop;
        this.pid = pid;
        this.name = name;
        this.processes = processes;
        this.started = command != null;
        this.ownGroup = command != null && command.ownGroup();
        this.stdio = stdio;
        this.pidfd = pidfd;
    }

    public static ChildProcess start(EventLoop loop, Command command) {
        return start(loop, command, LinuxPollCalls::ofThread, LinuxProcessCalls::ofThread);
    }

    public static ChildProcess start(
            EventLoop loop,
            Command command,
            Supplier<? extends PollCalls> kernels,
            Supplier<? extends ProcessCalls> processes) {
        Objects.requireNonNull(command, "command");
        Loop owner = (Loop) loop;
        owner.requireOpenWithStack("ChildProcess.start");
        ChildStdio stdio = ChildStdio.open(kernels, command);
        try {
            requireWatchable(kernels, processes);
            int pid = PosixSpawn.start(processes, command, stdio);
            try {
                stdio.closeChildEnds();
                // Absent if other code has reaped the child, or this process ignores SIGCHLD and
                // the kernel reaps its children.
                Pidfd pidfd = Pidfd.open(kernels, processes, pid).orElse(null);
                return new WatchedProcess(
                                owner, pid, command.program(), processes, command, stdio, pidfd)
                        .watch();
            } catch (Throwable e) {
                killAndReap(processes.get(), pid);
                throw e;
            }
        } catch (Throwable e) {
            stdio.closeAll();
            throw e;
        }
    }

    /// Opens a pidfd of this process, to fail before a child has run if the kernel has no pidfds, a
    /// sandbox forbids them, or descriptors have run out.
    private static void requireWatchable(
            Supplier<? extends PollCalls> kernels, Supplier<? extends ProcessCalls> processes) {
        int self = (int) ProcessHandle.current().pid();
        Pidfd.open(kernels, processes, self).ifPresent(Pidfd::close);
    }

    /// Kills and reaps a child that cannot be watched. Its id is still its own, since no other code
    /// reaps it.
    private static void killAndReap(ProcessCalls processes, int pid) {
        int _ = processes.kill(pid, Signal.SIGKILL.number());
        int result;
        do {
            result = processes.waitid(Linux.P_PID, pid, NO_SIGINFO, Linux.WEXITED);
        } while (result == -Errno.EINTR);
    }

    public static ChildProcess adopt(EventLoop loop, long pid) {
        return adopt(loop, pid, LinuxPollCalls::ofThread, LinuxProcessCalls::ofThread);
    }

    public static ChildProcess adopt(
            EventLoop loop,
            long pid,
            Supplier<? extends PollCalls> kernels,
            Supplier<? extends ProcessCalls> processes) {
        if (pid <= 0 || pid > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("not a process id: " + pid);
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
                                                "no such process exists"));
        ChildStdio none = new ChildStdio(kernels);
        return new WatchedProcess(owner, number, "adopted", processes, null, none, pidfd).watch();
    }

    private WatchedProcess watch() {
        if (pidfd == null) {
            complete(new Exit.Unknown());
            return this;
        }
        try {
            watcher = loop.watch(pidfd.descriptor, WatchSpec.reading(this::onReady).oneShot());
            loop.own(ownership);
            return this;
        } catch (Throwable e) {
            pidfd.close();
            throw e;
        }
    }

    private void onReady(Watcher ready) {
        Optional<Exit> found;
        try {
            found = Objects.requireNonNull(pidfd).peekExit();
        } catch (SystemCallException e) {
            onExited(new Exit.Unknown()); // Readiness means that it has exited.
            throw e;
        }
        found.ifPresentOrElse(this::onExited, () -> retryLater(ready));
    }

    /// A traced process has exited for the kernel, but can be reaped only once its tracer detaches.
    /// Until then its pidfd stays ready.
    private void retryLater(Watcher ready) {
        Duration delay = Duration.ofMillis(1L << Math.min(retries, MAX_RETRY_DOUBLINGS));
        retries++;
        Timer timer =
                loop.after(
                        delay,
                        _ -> {
                            if (ready.isWatching()) {
                                ready.rearm();
                            }
                        });
        if (!referenced) {
            timer.unreference();
        }
    }

    private void onExited(Exit found) {
        complete(found);
        // Last: until it is reaped the id is its own, and signalGroup reaches no other process.
        loop.defer(
                () -> {
                    loop.disown(ownership);
                    release();
                });
    }

    /// Schedules the callbacks, for later in this tick or the next.
    private void complete(Exit found) {
        exit = found;
        callbacks.forEach(callback -> loop.defer(() -> callback.accept(found)));
        callbacks.clear();
    }

    /// Reaps the child if it has exited, also when the loop terminates, and closes the pidfd.
    private void release() {
        Pidfd open = Objects.requireNonNull(pidfd);
        try {
            if (started && open.descriptor.isOpen()) {
                Optional<Exit> _ = open.reap();
            }
        } finally {
            open.close();
        }
    }

    @Override
    public int pid() {
        return pid;
    }

    @Override
    public boolean isAlive() {
        loop.requireConfinedWithStack("isAlive");
        return exit == null;
    }

    @Override
    public ChildProcess onExit(Consumer<? super Exit> callback) {
        Objects.requireNonNull(callback, "callback");
        loop.requireOpenWithStack("onExit");
        Exit known = exit;
        if (known == null) {
            callbacks.add(callback);
        } else {
            loop.defer(() -> callback.accept(known));
        }
        return this;
    }

    @Override
    public Promise<Exit> exited() {
        loop.requireConfinedWithStack("exited");
        Deferred<Exit> deferred = exited;
        if (deferred == null) {
            loop.requireOpenWithStack("exited");
            deferred = loop.deferred();
            exited = deferred;
            if (exit == null) {
                callbacks.add(deferred::resolve); // In its position among the callbacks.
            } else {
                deferred.resolve(exit);
            }
        }
        return deferred.promise();
    }

    @Override
    public Descriptor input() {
        loop.requireConfinedWithStack("input");
        return stdio.parentEnd(0);
    }

    @Override
    public Descriptor output() {
        loop.requireConfinedWithStack("output");
        return stdio.parentEnd(1);
    }

    @Override
    public Descriptor error() {
        loop.requireConfinedWithStack("error");
        return stdio.parentEnd(2);
    }

    @Override
    public boolean signal(Signal signal) {
        Objects.requireNonNull(signal, "signal");
        loop.requireConfinedWithStack("signal");
        return exit == null && requireOpen().signal(signal);
    }

    @Override
    public boolean signalGroup(Signal signal) {
        Objects.requireNonNull(signal, "signal");
        loop.requireConfinedWithStack("signalGroup");
        if (!ownGroup) {
            throw new IllegalStateException(
                    this + " has no group of its own: start it with Command.withOwnGroup()");
        }
        if (exit != null && (pidfd == null || !pidfd.descriptor.isOpen())) {
            return false; // The id may be that of another group by now.
        }
        Pidfd _ = requireOpen();
        assert pid > 1 : "kill(-1) would signal every process";
        int result = processes.get().kill(-pid, signal.number());
        if (result == -Errno.ESRCH) {
            return false;
        }
        Errno.require("kill", result, SystemCallException.NO_FD);
        return true;
    }

    private Pidfd requireOpen() {
        Pidfd open = Objects.requireNonNull(pidfd);
        if (!open.descriptor.isOpen()) {
            throw new IllegalStateException(
                    this + " cannot be signalled: its loop has terminated and released it");
        }
        return open;
    }

    @Override
    public ChildProcess unreference() {
        loop.requireConfinedWithStack("unreference");
        referenced = false;
        if (watcher != null) {
            watcher.unreference();
        }
        return this;
    }

    @Override
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
