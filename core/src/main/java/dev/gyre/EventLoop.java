package dev.gyre;

import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.loop.LoopTrace;
import dev.gyre.internal.net.ConnectionListing;
import dev.gyre.io.Descriptor;
import dev.gyre.metrics.ConnectionInfo;
import dev.gyre.metrics.LoopMetrics;
import dev.gyre.metrics.Trace;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/// An event loop: one thread that waits for the kernel and runs callbacks one at a time, never
/// nested.
///
/// ```java
/// try (var loop = EventLoop.open()) {
///     loop.every(Duration.ofSeconds(1), timer -> IO.println("tick"));
///     loop.after(Duration.ofSeconds(5), timer -> loop.stop());
///     loop.run();
/// }
/// ```
///
/// **Threads.** The *loop thread* is the platform thread inside a `run` method. These methods may
/// be called from any thread: [#submit], [#trySubmit], [#submitPriority], [#execute], [#call],
/// [#stop], [#shutdown], [#close], [#state], [#nowNanos], [#nanoTime], [#isLoopThread], [#thread],
/// [#metrics], [#connections], [#trace], [#config]. All others are *loop-confined*: while the loop
/// runs, only the loop thread may call them. Another thread gets a [WrongThreadException] that
/// names both threads. While no thread runs the loop, one thread may call them to set it up. If
/// another thread terminates the loop at the same time, the report may omit what the first one
/// adds.
///
/// **Order.** Each tick reads the clock, runs expired timers, then priority tasks, then tasks
/// within a budget, then deferred callbacks. Then it waits for the kernel and runs I/O callbacks.
/// Microtasks run after every timer and task and after every batch of I/O callbacks.
/// `docs/SEMANTICS.md` has the clauses.
///
/// **Failure.** The loop's [FailurePolicy] handles exceptions of callbacks.
public sealed interface EventLoop extends Executor, AutoCloseable permits Loop {

    /// Opens a loop with the default configuration.
    ///
    /// @throws SystemCallException if the kernel refuses a descriptor; nothing leaks
    static EventLoop open() {
        return open(LoopConfig.DEFAULT);
    }

    /// Opens a loop. It holds kernel descriptors until it is closed.
    ///
    /// @throws SystemCallException if the kernel refuses a descriptor; nothing leaks
    /// @throws UnsupportedOperationException if Gyre has no backend for this operating system, or
    ///     the kernel refuses the backend that the configuration requires
    static EventLoop open(LoopConfig config) {
        return Loop.open(config);
    }

    /// Runs until [#stop()] or shutdown. Blocks while there is nothing to do, even if only a task
    /// from another thread could end the wait.
    ///
    /// @throws LoopAlreadyRunningException if another thread runs this loop
    /// @throws ReentrantRunException if called from a callback of this loop
    /// @throws LoopTerminatedException if shutdown has begun
    /// @throws WrongThreadException if called on a virtual thread, because blocking in the kernel
    ///     would pin its carrier
    default void run() {
        run(RunMode.STOPPED);
    }

    /// Runs until [#stop()] was called and the mode permits to return, or until shutdown. Throws
    /// like [#run()].
    void run(RunMode mode);

    /// Runs at most one callback and the microtasks it enqueues. Waits for a callback if a live
    /// resource could cause one. Repeated calls run the same callbacks in the same order as
    /// [#run()]. Only the microtasks of I/O callbacks run earlier: after each callback, as in
    /// strict mode. Throws like [#run()].
    ///
    /// @return the number of callbacks run: 0 if nothing is left to do, the loop was stopped, or
    ///     microtasks used up the budget of the tick before a callback ran; more than 1 only if the
    ///     callback began a shutdown, which then finished accepted work
    long runOne();

    /// Runs all ready callbacks. If none is ready, waits at most once and runs those that became
    /// ready. Returns at once if nothing is alive. Throws like [#run()].
    ///
    /// @return the number of callbacks run
    long runSome();

    /// Runs until nothing is left to do or the loop was stopped. The loop waits for queued tasks,
    /// referenced timers, referenced watchers, operations in flight (streams, listeners), pending
    /// work of [#promisify(BlockingWork)] and stages of [Promise#from]. Throws like [#run()].
    ///
    /// @return the number of callbacks run
    long runUntilEmpty();

    /// Runs for the given time, or until the loop was stopped. Blocks while there is nothing to do.
    /// With [Duration#ZERO] it runs ready callbacks and does not block. Throws like [#run()].
    ///
    /// @return the number of callbacks run
    /// @throws IllegalArgumentException if the duration is negative
    long runFor(Duration duration);

    /// Makes the current run return at the end of its tick. If no run is active, makes the next run
    /// return without waiting. The run that returns consumes the request. The loop stays open and
    /// can run again.
    void stop();

    /// Enqueues a task for the loop thread. A task submitted by a task runs in a later tick. Tasks
    /// from one thread run in order of submission. Never blocks.
    ///
    /// A loop that is not running also accepts tasks and keeps them for its next run.
    ///
    /// @throws LoopTerminatedException if shutdown has begun; the task never runs
    /// @throws LoopOverloadedException if the high-water mark is reached; the task never runs
    void submit(Runnable task);

    /// Enqueues a task like [#submit], but returns a rejection as a value.
    SubmitResult trySubmit(Runnable task);

    /// Enqueues a priority task for the loop thread. Each tick runs all priority tasks before its
    /// first task from [#submit]. Never rejected for overload, so it suits completions of work that
    /// the loop requested. A caller without a limit of its own can exhaust the memory. Accepted
    /// while shutdown drains.
    ///
    /// @throws LoopTerminatedException if the loop is terminated; the task never runs
    void submitPriority(Runnable task);

    /// Enqueues a task like [#submit].
    @Override
    default void execute(Runnable command) {
        submit(command);
    }

    /// Runs the callback after the I/O callbacks and timers of the current tick, before the loop
    /// blocks again. Callbacks run in order. A callback added by a deferred callback runs in the
    /// next tick, and the loop does not block before it. Loop-confined.
    void defer(Runnable callback);

    /// Runs the microtask at the next barrier: when the current callback or batch of I/O callbacks
    /// has returned, before the loop blocks. Loop-confined.
    void microtask(Runnable microtask);

    /// Creates a pending promise and the deferred that settles it. Loop-confined.
    <T extends @Nullable Object> Deferred<T> deferred();

    /// Runs blocking work outside the loop and returns a promise for its result. The work runs on a
    /// virtual thread by default; see [LoopConfig#withExecutor]. Its return value resolves the
    /// promise, and its exception rejects it. The outcome arrives through the priority lane. If the
    /// executor rejects the work, the promise is rejected. Loop-confined.
    ///
    /// Pending work keeps [#runUntilEmpty()] running, and a graceful [#shutdown] waits for it. When
    /// the deadline passes or the loop is closed, the promise is rejected with
    /// [LoopTerminatedException] and the worker is interrupted.
    default <T extends @Nullable Object> Promise<T> promisify(BlockingWork<? extends T> work) {
        return promisify(Cancellation.none(), work);
    }

    /// Runs blocking work that can be cancelled. On cancellation, the promise is rejected with the
    /// [CancelledException] and the worker is interrupted. Work that has not begun is skipped. The
    /// interrupt does not affect later work of the same thread. Loop-confined.
    default <T extends @Nullable Object> Promise<T> promisify(
            Cancellation cancellation, BlockingWork<? extends T> work) {
        return promisify(config().executor(), cancellation, work);
    }

    /// Runs blocking work on the given executor, such as a [BoundedExecutor]. Loop-confined.
    default <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, BlockingWork<? extends T> work) {
        return promisify(executor, Cancellation.none(), work);
    }

    /// Runs blocking work that can be cancelled on the given executor. If the executor accepts the
    /// work and drops it silently, as `shutdownNow` does with queued work, the promise stays
    /// pending until it is cancelled or the loop terminates. Loop-confined.
    <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, Cancellation cancellation, BlockingWork<? extends T> work);

    /// Calls the body on the loop thread and returns a future for the promise that the body
    /// returns. Other threads use it to call loop-confined code. Callable from any thread; never
    /// blocks.
    ///
    /// ```java
    /// Row row = loop.call(() -> cache.find(id)).get();   // on a thread that may block
    /// ```
    ///
    /// The body runs as a task, like one of [#submit], even if the caller is the loop thread. The
    /// future is attached to the promise in that task, so a rejection counts as handled (P-3): the
    /// future delivers it. With [Promise#toFuture()] on another thread, the loop may have reported
    /// the rejection already.
    ///
    /// The future completes exceptionally with the body's exception or the reason of a rejected
    /// promise. It fails with [LoopOverloadedException] if the task queue is full, and with
    /// [LoopTerminatedException] if the loop terminates before the promise settles. Dependents run
    /// on a virtual thread, never on the loop's. If the future is cancelled before the body runs,
    /// the body is skipped. A later cancellation does not affect the promise.
    <T extends @Nullable Object> CompletableFuture<T> call(
            Callable<? extends Promise<? extends T>> body);

    /// Schedules a one-shot timer. The delay counts from [#nowNanos()]. Loop-confined.
    ///
    /// @throws IllegalArgumentException if the delay is negative or its deadline cannot be
    ///     represented
    Timer after(Duration delay, Consumer<? super Timer> callback);

    /// Schedules a one-shot timer for an instant on the scale of [#nowNanos()]. A timer for a past
    /// instant fires in the next tick. Loop-confined.
    ///
    /// @throws IllegalArgumentException if the instant is more than 292 years from now
    Timer at(long deadlineNanos, Consumer<? super Timer> callback);

    /// Schedules a repeating timer, first after one period. It does not drift. Periods that a late
    /// loop missed fire once together. Loop-confined.
    ///
    /// @throws IllegalArgumentException if the period is not positive or cannot be represented
    Timer every(Duration period, Consumer<? super Timer> callback);

    /// Watches a descriptor. Replaces the current watcher of the same descriptor number, whose
    /// callbacks run no more. Existing readiness is reported. Loop-confined.
    ///
    /// The watcher references the descriptor weakly. Its callbacks run no more once the descriptor
    /// is closed or collected, even if its number is reused.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if the descriptor is closed
    /// @throws SystemCallException if the kernel refuses, as for a regular file (EPERM), which it
    ///     cannot poll; the descriptor number is then not watched
    Watcher watch(Descriptor descriptor, WatchSpec watch);

    /// Stops watching a descriptor. Its callbacks run no more, not even for an event that the
    /// kernel has reported already. Does nothing if it is not watched. Loop-confined.
    void unwatch(Descriptor descriptor);

    /// Closes the resource when the loop terminates, before its descriptors are released, on the
    /// terminating thread. Resources are closed in reverse order. Loop-confined.
    void own(AutoCloseable resource);

    /// Reverts [#own], as for a resource that was closed earlier. Does nothing if it is not owned.
    /// Loop-confined.
    void disown(AutoCloseable resource);

    /// Returns the cached monotonic time in nanoseconds on the scale of [System#nanoTime()]. The
    /// loop updates it when a tick begins and when its wait for the kernel ends. While no thread
    /// runs the loop, each call reads the clock. Callable from any thread, without a lock.
    long nowNanos();

    /// Reads the monotonic clock, on the scale of [#nowNanos()]. For threads that need the exact
    /// time, for example to check a deadline. Callable from any thread.
    long nanoTime();

    /// Returns the current state. Callable from any thread.
    LoopState state();

    /// Returns whether the calling thread is inside a `run` method of this loop.
    boolean isLoopThread();

    /// Returns the thread inside a `run` method of this loop; `null` if no thread runs it. For
    /// authors of loop-confined classes. Callable from any thread.
    @Nullable Thread thread();

    /// Returns the counters of this loop. Reading them does not slow the loop down.
    LoopMetrics metrics();

    /// Lists the open connections of this loop, with their state and activity. The loop visits at
    /// most 256 per tick. A connection that opens, closes or moves meanwhile may be missing.
    /// Callable from any thread; never blocks.
    ///
    /// @return completes once the loop has visited all connections: a loop that no thread runs does
    ///     so when it runs next. Fails with [LoopTerminatedException] if the loop terminates
    ///     before. Dependents run on a virtual thread, never on the loop's
    default CompletionStage<List<ConnectionInfo>> connections() {
        return ConnectionListing.of(this);
    }

    /// Returns the trace of this loop's connections, which is off by default. Callable from any
    /// thread.
    default Trace trace() {
        List<EventLoop> one = List.of(this);
        return new LoopTrace(() -> one);
    }

    /// Returns the configuration of this loop.
    LoopConfig config();

    /// Terminates the loop gracefully: rejects new tasks, finishes accepted work and the work that
    /// follows from it, and releases the descriptors. After the deadline it closes the loop like
    /// [#close()]. Idempotent and callable from any thread; never blocks. The deadline of the first
    /// call applies.
    ///
    /// If no thread runs the loop, queued work cannot be finished: the loop terminates at once, and
    /// the report counts the abandoned work.
    ///
    /// @return the single outcome. It completes after the last descriptor is closed, on the
    ///     terminating thread. Threads other than the loop thread may wait for it with
    ///     `toCompletableFuture().join()`
    /// @throws IllegalArgumentException if the deadline is negative
    CompletionStage<ShutdownReport> shutdown(Duration deadline);

    /// Terminates the loop at once: drops queued work and releases the descriptors. The observer
    /// receives the report, and [#shutdown] returns the same outcome afterwards. Idempotent and
    /// callable from any thread.
    ///
    /// If another thread runs the loop, this waits until that thread has finished its current
    /// callback and released everything. An interrupt ends the wait, not the termination. On the
    /// loop thread it does not wait: the run returns after the current callback. Two loops whose
    /// callbacks close each other would deadlock: use [#shutdown] there.
    @Override
    void close();
}
