package dev.gyre;

import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Descriptor;
import dev.gyre.metrics.LoopMetrics;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/// One thread that waits for the kernel and runs callbacks, one at a time, never nested.
///
/// ```java
/// try (var loop = EventLoop.open()) {
///     loop.every(Duration.ofSeconds(1), timer -> IO.println("tick"));
///     loop.after(Duration.ofSeconds(5), timer -> loop.stop());
///     loop.run();
/// }
/// ```
///
/// **Threads.** The *loop thread* is whichever platform thread is inside a `run` method. These may be
/// called from any thread: [#submit], [#trySubmit], [#submitPriority], [#execute], [#call], [#stop],
/// [#shutdown], [#close], [#state], [#nowNanos], [#nanoTime], [#isLoopThread], [#thread], [#metrics], [#config]. All others are
/// *loop-confined*: while the loop runs they belong to the loop thread, and any other caller gets a
/// [WrongThreadException] that names both threads. While no thread runs the loop they belong to
/// the one thread that sets it up; what that thread adds at the very moment another one ends the loop
/// may or may not be counted in the report.
///
/// **Order.** Each tick reads the clock, runs expired timers, then priority tasks, then tasks within a
/// budget, then deferred callbacks, waits for the kernel, and runs I/O callbacks. Microtasks run after
/// every timer and task and after every batch of I/O callbacks. `docs/SEMANTICS.md` has the clauses.
///
/// **Failure.** A callback that throws is handled by the loop's [FailurePolicy].
public sealed interface EventLoop extends Executor, AutoCloseable permits Loop {

    /// Opens a loop with the default configuration.
    ///
    /// @throws SystemCallException if the kernel refuses a descriptor; nothing is leaked then
    static EventLoop open() {
        return open(LoopConfig.DEFAULT);
    }

    /// Opens a loop. It holds kernel descriptors from now on, so it has to be closed.
    ///
    /// @throws SystemCallException if the kernel refuses a descriptor; nothing is leaked then
    /// @throws UnsupportedOperationException if Gyre has no backend for this operating system, or the one that the
    ///     configuration requires is refused
    static EventLoop open(LoopConfig config) {
        return Loop.open(config);
    }

    /// Runs until [#stop()] or the loop's end. Waits when there is nothing to do, even when nothing
    /// could ever come but a task from another thread.
    ///
    /// @throws LoopAlreadyRunningException if another thread runs this loop
    /// @throws ReentrantRunException if called from one of this loop's callbacks
    /// @throws LoopTerminatedException if shutdown has begun
    /// @throws WrongThreadException if called on a virtual thread: waiting in the kernel would pin its
    ///     carrier
    default void run() {
        run(RunMode.STOPPED);
    }

    /// Runs until [#stop()] was called and the mode allows to return, or until the loop's end. Throws
    /// like [#run()].
    void run(RunMode mode);

    /// Runs at most one callback, together with the microtasks it leaves, and waits for it if
    /// something is alive that could bring one. Successive calls run the same callbacks in the same
    /// order as [#run()] would; only the microtasks of I/O callbacks come sooner, after each one as in
    /// strict mode. Throws like [#run()].
    ///
    /// @return the number of callbacks run: 0 when nothing is left to do, the loop was stopped, or
    ///     microtasks used up a tick's budget before a callback came; more than 1 only when the callback
    ///     began a shutdown, which then finished accepted work
    long runOne();

    /// Runs what is ready, and if nothing is, waits at most once and runs what came. Returns at once
    /// when nothing is alive. Throws like [#run()].
    ///
    /// @return the number of callbacks run
    long runSome();

    /// Runs until nothing is left to do or the loop was stopped: no queued task, referenced timer,
    /// referenced watcher, pending work of [#promisify(Work)] or stage of [Promise#from]. Throws like [#run()].
    ///
    /// @return the number of callbacks run
    long runUntilEmpty();

    /// Runs for the given time, waiting when there is nothing to do, or until the loop was stopped. For
    /// [Duration#ZERO] it runs what is ready and does not wait. Throws like [#run()].
    ///
    /// @return the number of callbacks run
    /// @throws IllegalArgumentException if the duration is negative
    long runFor(Duration duration);

    /// Makes the current run return at the end of its tick, or, if no run is under way, makes the next
    /// one return without waiting. The run that returns consumes the request. The loop stays open and can
    /// run again.
    void stop();

    /// Runs the task on the loop thread; a task that is submitted by a task runs in a later tick. Never
    /// waits for the loop. Tasks from one thread run in the order they were submitted.
    ///
    /// A loop that is not running accepts tasks too and keeps them for its next run.
    ///
    /// @throws LoopTerminatedException once shutdown has begun; the task will not run
    /// @throws LoopOverloadedException while as many tasks wait as the high-water mark allows; the task
    ///     will not run
    void submit(Runnable task);

    /// Like [#submit], with refusal as a value.
    SubmitResult trySubmit(Runnable task);

    /// Runs the task on the loop thread. Each tick runs all of these before its first task from
    /// [#submit]. Never refused for load, so it is for completions of work the loop itself asked for: a
    /// caller without a bound of its own can fill the memory. Accepted while shutdown drains.
    ///
    /// @throws LoopTerminatedException once the loop is over; the task will not run
    void submitPriority(Runnable task);

    /// The same as [#submit]: a loop is an [Executor].
    @Override
    default void execute(Runnable command) {
        submit(command);
    }

    /// Runs the callback after the I/O and timers of the current turn and before the loop waits again.
    /// Callbacks run in order; one that is added by a deferred callback runs in the next turn, and the
    /// loop does not wait before it. Loop-confined.
    void defer(Runnable callback);

    /// Runs the microtask at the next barrier: as soon as the current callback (or batch of I/O
    /// callbacks) has returned, and before the loop waits. Loop-confined.
    void microtask(Runnable microtask);

    /// A promise for this loop, and the end that settles it. Loop-confined.
    <T extends @Nullable Object> Deferred<T> deferred();

    /// Runs blocking work outside the loop, on a virtual thread unless [LoopConfig#withExecutor] says otherwise, and
    /// settles the promise with what comes of it: what the work returns, or what it throws. The outcome comes
    /// back through the priority lane. An executor that refuses the work rejects the promise. Loop-confined.
    ///
    /// Pending work keeps [#runUntilEmpty()] going, and a graceful [#shutdown] waits for it. Past the deadline,
    /// and when the loop is closed, the promise is rejected with [LoopTerminatedException] and the worker
    /// interrupted.
    default <T extends @Nullable Object> Promise<T> promisify(BlockingWork<? extends T> work) {
        return promisify(Cancellation.none(), work);
    }

    /// The same, unless it is cancelled before: the promise is rejected with the [CancelledException] then, and the
    /// worker interrupted; work that has not begun never does. The worker's own interrupt status is as it was
    /// when it goes on to other work. Loop-confined.
    default <T extends @Nullable Object> Promise<T> promisify(
            Cancellation cancellation, BlockingWork<? extends T> work) {
        return promisify(config().executor(), cancellation, work);
    }

    /// Runs the work on the given executor, such as [BoundedExecutor], which bounds how much runs at once. Loop-confined.
    default <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, BlockingWork<? extends T> work) {
        return promisify(executor, Cancellation.none(), work);
    }

    /// The same, unless it is cancelled before, on the given executor. Work that an executor
    /// takes and drops without a word, as `shutdownNow` does with what is queued, is waited for until it is cancelled
    /// or the loop ends. Loop-confined.
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

    /// Runs the callback once, not before the delay has passed, counted from [#nowNanos()].
    /// Loop-confined.
    ///
    /// @throws IllegalArgumentException if the delay is negative or its deadline cannot be represented
    Timer after(Duration delay, Consumer<? super Timer> callback);

    /// Runs the callback once, not before the given instant on the scale of [#nowNanos()]; in the next
    /// tick if it has passed. Loop-confined.
    ///
    /// @throws IllegalArgumentException if it is farther from now than 292 years, ahead or past
    Timer at(long deadlineNanos, Consumer<? super Timer> callback);

    /// Runs the callback every period, first after one period. Keeps to its schedule without drift;
    /// periods that a late loop missed fire once together. Loop-confined.
    ///
    /// @throws IllegalArgumentException if the period is not positive or cannot be represented
    Timer every(Duration period, Consumer<? super Timer> callback);

    /// Watches a descriptor, in place of whatever watches its number now: the old watcher is gone at once and
    /// none of its callbacks runs any more. What is ready already is reported. Loop-confined.
    ///
    /// The watcher holds the descriptor weakly. Nothing reaches its callbacks once the descriptor is
    /// closed or collected, also if its number is somebody else's by then.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if the descriptor is closed
    /// @throws SystemCallException if the kernel refuses, as for a regular file (EPERM), which it cannot
    ///     poll; the number is unwatched then
    Watcher watch(Descriptor descriptor, WatchSpec watch);

    /// Ends the watching of a descriptor: no callback runs any more, not even for an event that the kernel
    /// has reported already. Does nothing if it is not watched. Loop-confined.
    void unwatch(Descriptor descriptor);

    /// Closes the resource when the loop ends, before its descriptors are released, on the thread that ends
    /// it; what was added last goes first. Loop-confined.
    void own(AutoCloseable resource);

    /// Takes [#own] back, as for a resource that was closed earlier. Does nothing if it is not owned.
    /// Loop-confined.
    void disown(AutoCloseable resource);

    /// The monotonic time at which the current tick began, or its wait for the kernel was over, in nanoseconds on the scale of
    /// [System#nanoTime()]. While no thread runs the loop it is read afresh. Callable from any thread,
    /// without a lock.
    long nowNanos();

    /// The monotonic time now, read afresh, on the scale of [#nowNanos()]: for whoever cannot wait for the
    /// next tick, as a thread that looks whether a deadline has passed. Callable from any thread.
    long nanoTime();

    /// The loop's state at this instant. Callable from any thread.
    LoopState state();

    /// Whether the calling thread is inside a `run` method of this loop.
    boolean isLoopThread();

    /// The thread that is inside a `run` method of this loop; null while none is. For whoever writes a confined class of
    /// his own, and wants to say whose thread it belongs to. Callable from any thread.
    @Nullable Thread thread();

    /// Counters about this loop. Reading them costs the loop nothing.
    LoopMetrics metrics();

    /// The configuration the loop was opened with.
    LoopConfig config();

    /// Ends the loop gracefully: refuses new tasks, finishes what was accepted and what that work leads
    /// to, releases the descriptors. Past the deadline it becomes [#close()]. Idempotent and callable
    /// from any thread; never waits. The first call's deadline counts.
    ///
    /// A loop that no thread runs has nobody to finish its queued work: it ends at once, and the report
    /// counts what was abandoned.
    ///
    /// @return the one outcome. It completes after the last descriptor is closed, on the thread that
    ///     ended the loop. To wait for it, from any thread but the loop's: `toCompletableFuture().join()`
    /// @throws IllegalArgumentException if the deadline is negative
    CompletionStage<ShutdownReport> shutdown(Duration deadline);

    /// Ends the loop at once: drops queued work without running it and releases the descriptors. The
    /// report is had from [#shutdown], which returns the one outcome also afterwards, and goes to the
    /// observer. Idempotent and callable from any thread.
    ///
    /// When another thread runs the loop, waits until that thread has finished the callback it is in
    /// and has released everything; an interrupt ends the wait, not the closing. On the loop thread
    /// it does not wait: the run returns after the current callback. Two loops whose callbacks close
    /// each other would wait for each other for ever: use [#shutdown] there.
    @Override
    void close();
}
