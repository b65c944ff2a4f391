package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.WatchedProcess;
import dev.gyre.io.Descriptor;

import java.util.function.Consumer;

/// A process whose exit the loop reports: a child that was started here, or any other process that
/// was adopted.
///
/// ```java
/// var command = Command.of("gzip", "-c").withInput(Stdio.PIPE).withOutput(Stdio.PIPE);
/// var child = ChildProcess.start(loop, command).onExit(exit -> IO.println(exit));
/// loop.watch(child.output(), WatchSpec.reading(watcher -> drain(child.output())));
/// ```
///
/// No thread waits for the process. The loop reaps an exited child as soon as its exit callbacks
/// have run, so no zombie remains.
///
/// **Threads.** All methods but [#pid()] are loop-confined, like [EventLoop#watch].
///
/// **Order.** The exit of a process and the end of its output are two events, in either order. A
/// process may exit with output unread, or leave its output to a process that still runs. Wait for
/// both.
///
/// **Lifetime.** A process keeps the loop alive until it exits, unless [#unreference()] was called.
/// The loop holds this object until then, and each pipe for as long as it is watched. The caller
/// closes the pipes; a pipe that is unreachable and not watched is closed some time later.
///
/// A loop that terminates first leaves the process running and does not report its exit. The
/// process then remains a zombie after its exit until this JVM exits or other code reaps it. To
/// terminate both together: `loop.own(() -> child.signal(Signal.SIGTERM))`.
public sealed interface ChildProcess permits WatchedProcess {
    /// Starts a program with the standard streams of this process. Equivalent to
    /// `start(loop, Command.of(program, arguments))`.
    static ChildProcess start(EventLoop loop, String program, String... arguments) {
        return start(loop, Command.of(program, arguments));
    }

    /// Starts a command. The calling thread blocks until the new process executes the program,
    /// about a millisecond, so that a failure is reported here.
    ///
    /// @throws SystemCallException if the program cannot be started, with the reason; the attempt
    ///     leaves neither a descriptor nor a process
    /// @throws UnsupportedOperationException if the command has a directory and the C library is
    ///     too old for one
    /// @throws LoopTerminatedException if the loop has terminated
    static ChildProcess start(EventLoop loop, Command command) {
        return WatchedProcess.start(loop, command);
    }

    /// Reports the exit of a process that other code started. The exit status is known only if the
    /// process is a child of this one and has not been reaped before. Reaping it is left to the
    /// code that started it.
    ///
    /// The process may have exited before this call, and the kernel may have reused its id. From
    /// this call on the id is unambiguous.
    ///
    /// @throws IllegalArgumentException if the id is not positive or exceeds the kernel's range
    /// @throws SystemCallException if no such process exists (ESRCH), or the id is that of a thread
    /// @throws LoopTerminatedException if the loop has terminated
    static ChildProcess adopt(EventLoop loop, long pid) {
        return WatchedProcess.adopt(loop, pid);
    }

    /// Returns the process id. The kernel may reuse it after the exit. Callable from any thread.
    int pid();

    /// Returns whether the loop has not seen the exit yet.
    boolean isAlive();

    /// Runs the callback once the process has exited, after the I/O callbacks of that tick.
    /// Callbacks run in the order they were added. The callback never runs inside this call, not
    /// even if the process has exited already.
    ///
    /// @return this process
    ChildProcess onExit(Consumer<? super Exit> callback);

    /// Returns the exit as a promise, the same one on every call. It settles in order with the
    /// [#onExit] callbacks, as if the first call of this method had added one. It keeps the loop
    /// alive only as long as the process itself does.
    ///
    /// A loop that terminates first rejects it with [LoopTerminatedException]; the process keeps
    /// running.
    ///
    /// ```java
    /// child.exited().thenAccept(exit -> IO.println(exit));
    /// ```
    ///
    /// @throws LoopTerminatedException if the loop has terminated before the first call
    Promise<Exit> exited();

    /// Returns the non-blocking pipe to the standard input. Closing it is the end of input. Writing
    /// fails with EPIPE once no process has the other end open.
    ///
    /// @throws IllegalStateException if the process was not started with `withInput(Stdio.PIPE)`
    Descriptor input();

    /// Returns the non-blocking pipe from the standard output.
    ///
    /// @throws IllegalStateException if the process was not started with `withOutput(Stdio.PIPE)`
    Descriptor output();

    /// Returns the non-blocking pipe from the standard error.
    ///
    /// @throws IllegalStateException if the process was not started with `withError(Stdio.PIPE)`
    Descriptor error();

    /// Sends a signal to this process, and never to another one that reuses its id.
    ///
    /// @return false if the process has exited
    /// @throws IllegalStateException if the loop has terminated and released the process
    /// @throws SystemCallException if the kernel refuses: EPERM for a process of another user
    boolean signal(Signal signal);

    /// Sends a signal to all processes of its group: the process itself and its descendants, except
    /// those that left the group. It works until the exit callbacks have run, so an exit callback
    /// can terminate processes that the child left behind.
    ///
    /// @return false if the group is empty, or is no longer known
    /// @throws IllegalStateException if the process was started without
    ///     [Command#withOwnGroup()], or the loop has terminated and released the process
    /// @throws SystemCallException if the kernel refuses
    boolean signalGroup(Signal signal);

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although this process still runs.
    ///
    /// @return this process
    ChildProcess unreference();

    /// Reverts [#unreference()].
    ///
    /// @return this process
    ChildProcess reference();
}
