package dev.gyre;

import dev.gyre.internal.group.Group;
import dev.gyre.internal.loop.LoopTrace;
import dev.gyre.metrics.Trace;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

/// A fixed number of event loops, each on its own platform thread. A group starts, drains and
/// closes as one.
///
/// ```java
/// try (var group = LoopGroup.ofCores()) {
///     Listener.tcp(group, new InetSocketAddress(7777), stream -> stream.onData(stream::write));
///     group.run();   // until Ctrl-C
/// }
/// ```
///
/// **Shared and separate.** Loops share nothing by themselves. A connection belongs to one loop,
/// and its callbacks run on that loop's thread. A handler that serves several loops runs on
/// several threads at once: keep state per loop with [#perLoop], or make it thread-safe.
///
/// **Failure.** A loop fails if its run ends with an exception, such as a [VirtualMachineError] of
/// a callback. The group logs the cause and closes the loop, which resets its connections. Then
/// [LoopGroupConfig#failureAction()] applies: by default a new loop replaces it, on the same
/// thread. The [GroupReport] lists all failures. If the group is shutting down, or if no new loop
/// can be opened, the loop is not replaced.
///
/// **Termination.** The loops terminate together. If application code stops, shuts down or closes
/// one loop, the group shuts down with [LoopGroupConfig#shutdownTimeout()].
///
/// **Threads.** All methods may be called from any thread, including virtual threads. [#run()],
/// [#await()] and [#close()] wait, and [#perLoop] and [#forEach] wait for running loops. On a loop
/// thread of the group, [#close()] does not wait and the others throw. Configure the group before
/// [#start()] or after it has returned, never concurrently. The threads of the loops are not daemon
/// threads: a started group keeps the JVM alive until it has terminated.
public sealed interface LoopGroup extends AutoCloseable permits Group {
    /// Opens one loop per processor that this process may use.
    ///
    /// @throws SystemCallException if a descriptor cannot be opened; loops opened
    ///     before are closed
    static LoopGroup ofCores() {
        return of(Runtime.getRuntime().availableProcessors());
    }

    /// Opens a group with the default configuration.
    ///
    /// @param size the number of loops, from 1 to 1 024
    /// @throws IllegalArgumentException if the size is out of range
    /// @throws SystemCallException if a descriptor cannot be opened; loops opened
    ///     before are closed
    static LoopGroup of(int size) {
        return of(size, LoopGroupConfig.DEFAULT);
    }

    /// Opens a group.
    ///
    /// @param size the number of loops, from 1 to 1 024
    /// @throws IllegalArgumentException if the size is out of range
    /// @throws SystemCallException if a descriptor cannot be opened; loops opened
    ///     before are closed
    static LoopGroup of(int size, LoopGroupConfig config) {
        return Group.open(size, config);
    }

    /// Returns the number of loops.
    int size();

    /// Returns the current loops, in the order of their names. A loop that failed is replaced in a
    /// list returned later.
    List<EventLoop> loops();

    /// Returns the next loop, round-robin, for work that any loop can do. Skips terminated loops
    /// while others run.
    EventLoop next();

    /// Returns the trace of the connections of all loops, which is off by default. It includes
    /// loops that replace failed ones.
    default Trace trace() {
        return new LoopTrace(this::loops);
    }

    /// Calls the action once with each loop: on the loop's thread if the group runs, or on this
    /// thread before it starts. Returns after the last call. A loop that replaces a failed one
    /// later is not included: see [#perLoop].
    ///
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    void forEach(Consumer<? super EventLoop> action);

    /// Creates one value per loop, with the factory: on the loop's thread if the group runs, or on
    /// this thread before it starts. A loop that replaces a failed one gets a new value before it
    /// runs. If values are [AutoCloseable], they are closed with their loops. If the factory
    /// throws, the values created before are closed and the exception is thrown. If it throws for a
    /// loop that replaces a failed one, the group closes.
    ///
    /// ```java
    /// PerLoop<Map<String, Session>> sessions = group.perLoop(loop -> new HashMap<>());
    /// server.get("/", (request, response) -> show(sessions.get(request.loop()), response));
    /// ```
    ///
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    <T> PerLoop<T> perLoop(Function<? super EventLoop, ? extends T> factory);

    /// Adds an action for [#shutdown]: it stops new work, such as a listener, and completes when
    /// the work in progress has finished. Actions run at the same time. The loops run until the
    /// last action completes or the deadline passes. A failure of an action is logged. Actions do
    /// not run if the group was not started, and [#close()] skips them.
    ///
    /// @param action receives the deadline as a duration from now
    /// @throws IllegalStateException if the group is shutting down or has terminated
    void onShutdown(Function<? super Duration, ? extends CompletionStage<?>> action);

    /// Starts a thread for each loop, with the loop's name. Does nothing if the group was started
    /// before. If a thread cannot be started, this method closes the group and throws the error.
    ///
    /// @throws IllegalStateException if the group is shutting down or has terminated
    void start();

    /// Starts the group and waits until it has terminated. The first SIGINT or SIGTERM, as from
    /// Ctrl-C, begins a shutdown with [LoopGroupConfig#shutdownTimeout()], and the second one
    /// closes the group. If signals cannot be received, the group logs a warning and runs without
    /// them. An interrupt of this thread does not end the wait.
    ///
    /// @return the report of [#shutdown]
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    GroupReport run();

    /// Waits until the group has terminated.
    ///
    /// @return the report of [#shutdown]
    /// @throws IllegalStateException on a loop thread of the group
    /// @throws InterruptedException if this thread is interrupted; the group continues
    GroupReport await() throws InterruptedException;

    /// Terminates the group gracefully: runs the actions of [#onShutdown], then shuts down all
    /// loops. Idempotent; never blocks. The deadline of the first call applies.
    ///
    /// @return the single outcome, which completes after the last loop has terminated
    /// @throws IllegalArgumentException if the deadline is negative
    CompletionStage<GroupReport> shutdown(Duration deadline);

    /// Returns whether the group and all its loops have terminated.
    boolean isTerminated();

    /// Terminates all loops at once, as [EventLoop#close()] does, and waits for them. It does not
    /// wait on a loop thread of the group, or if this thread is interrupted. Idempotent.
    @Override
    void close();
}
