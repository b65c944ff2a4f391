package dev.gyre.metrics;

import dev.gyre.internal.loop.Metrics;
import dev.gyre.io.CloseReason;

import java.time.Duration;
import java.util.Optional;

/// The counters and histograms of one loop since it was opened. Each is exact while the loop is
/// idle. While it runs, two figures read in sequence may belong to different instants. Reading does
/// not slow the loop down. Callable from any thread.
///
/// ```java
/// loop.metrics().utilization();                   // 0.35: idle for two thirds of the time
/// loop.metrics().taskDelay().percentile(99);      // from submit until the task runs
/// loop.metrics().running();                       // what it runs now, and since when
/// ```
public sealed interface LoopMetrics permits Metrics {
    /// Returns the name of the loop's backend: `epoll`, `io_uring`.
    String backend();

    /// Returns why the loop does not use the requested backend; empty if it does.
    Optional<String> backendFallback();

    /// Describes for operators how operations are executed: `all operations native`, or those that
    /// the loop emulates on this kernel. A missing feature may be detected only at its first use.
    String backendDetail();

    /// Returns the number of ticks begun.
    long ticks();

    /// Returns the number of timers, tasks, deferred and I/O callbacks run. Excludes microtasks.
    long callbacks();

    /// Returns the number of tasks from `submit` run.
    long tasks();

    /// Returns the number of tasks from `submitPriority` run.
    long priorityTasks();

    /// Returns the number of timers fired.
    long timers();

    /// Returns the number of microtasks run.
    long microtasks();

    /// Returns the number of currently watched descriptors.
    int watchers();

    /// Returns the number of operations in flight.
    int operations();

    /// Returns the number of completed operations. A multishot operation counts once, when it ends.
    long operationsCompleted();

    /// Returns the bytes of pooled buffers in use.
    long bufferMemory();

    /// Returns the limit of [#bufferMemory()]: see [dev.gyre.LoopConfig#bufferMemory()].
    long bufferMemoryLimit();

    /// Returns the number of entries in the registry of promises: those pending at the end of a
    /// tick, until a scan finds them settled or collected.
    long promises();

    /// Returns the number of entries removed from the registry because their promise was settled or
    /// collected.
    long promisesScavenged();

    /// Returns how often the registry was resized.
    long registryRebuilds();

    /// Returns the number of pending units of blocking work and external stages.
    long awaited();

    /// Returns the number of unhandled rejections.
    long unhandledRejections();

    /// Returns the number of kernel waits that could block.
    long sleeps();

    /// Returns the number of non-blocking kernel polls.
    long polls();

    /// Returns the number of wake-ups written to the kernel. A running loop needs none.
    long wakeups();

    /// Returns the number of exceptions thrown by callbacks.
    long failures();

    /// Returns the number of tasks that `submit` rejected because too many were queued.
    long tasksRejected();

    /// Returns the number of queued tasks from `submit`.
    int queuedTasks();

    /// Returns the number of tasks in the priority lane: those from `submitPriority`, and internal
    /// ones such as a buffer that another thread releases.
    int queuedPriorityTasks();

    /// Returns the time the loop has spent outside waits, while a thread ran it.
    Duration activeTime();

    /// Returns the time the loop has spent waiting for the kernel.
    Duration idleTime();

    /// Returns the fraction of time that the loop was active, from 0 to 1, over the last second or
    /// more. A loop that waits since then has 0, and one that is stuck in a callback has 1.
    double utilization();

    /// Returns the durations of ticks that ran a callback, without the wait.
    Histogram tickDuration();

    /// Returns the durations of waits for the kernel.
    Histogram pollWait();

    /// Returns the delays from `submit` until the task ran. One task in 16 is measured.
    Histogram taskDelay();

    /// Returns the delays from the end of the wait until an I/O callback ran: how long it waited
    /// for other callbacks.
    Histogram readyDelay();

    /// Returns how much later than their deadline timers fired.
    Histogram timerLateness();

    /// Returns the durations of callbacks, with the microtasks that followed. In a tick with many
    /// tasks, one in 16 is measured.
    Histogram callbackDuration(CallbackKind kind);

    /// Returns what the loop runs at the moment; empty if it waits, or if no thread runs it. If
    /// the callback has run for 10 ms, this may stop the loop thread for a moment, for its stack.
    Optional<RunningCallback> running();

    /// Returns the number of open streams.
    long streams();

    /// Returns the number of streams opened so far.
    long streamsOpened();

    /// Returns the number of streams that moved to this loop from another one. See
    /// [dev.gyre.io.Stream#moveTo].
    long streamsMovedIn();

    /// Returns the number of streams that moved from this loop to another one.
    long streamsMovedOut();

    /// Returns the number of connections that listeners closed at once because of a limit such as
    /// [dev.gyre.io.ListenerConfig#maxConnectionsPerPeer].
    long connectionsRefused();

    /// Returns the number of connections that listeners closed at once for lack of descriptors or
    /// kernel memory.
    long connectionsShed();

    /// Returns how often descriptors or kernel memory ran out while a listener of this loop
    /// accepted. One loop of the process counts each episode. An episode ends after five seconds
    /// without a refusal.
    long exhaustions();

    /// Returns the number of streams closed for the given reason.
    long streamsClosed(CloseReason reason);
}
