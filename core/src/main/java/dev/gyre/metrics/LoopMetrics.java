package dev.gyre.metrics;

import dev.gyre.internal.loop.Metrics;
import dev.gyre.io.CloseReason;

import java.util.Optional;

/// Counters of one loop since it was opened. Each is exact when the loop is quiet; while it runs, two of
/// them read one after the other may be from different instants. Callable from any thread.
public sealed interface LoopMetrics permits Metrics {
    /// The name of the backend that the loop waits on: `epoll`, `io_uring`.
    String backend();

    /// Why the loop does not wait on the backend that was asked for; empty if it does.
    Optional<String> backendFallback();

    /// Who makes the operations, in words for people: `all operations native`, or which of them this
    /// kernel leaves to the loop. What a kernel lacks may be found out only when it is first used.
    String backendDetail();

    /// Ticks begun.
    long ticks();

    /// Timers, tasks, deferred and I/O callbacks run; microtasks are counted apart.
    long callbacks();

    /// Tasks from `submit` run.
    long tasks();

    /// Tasks from `submitPriority` run.
    long priorityTasks();

    /// Timers fired.
    long timers();

    /// Microtasks run.
    long microtasks();

    /// Descriptors that are watched at this instant.
    int watchers();

    /// Operations that are under way at this instant.
    int operations();

    /// Operations that have completed, those that go on counted once they ended.
    long operationsCompleted();

    /// Bytes of pooled buffers that are in use at this instant, of
    /// [dev.gyre.LoopConfig#bufferMemory()].
    long bufferMemory();

    /// Entries in the registry of promises: those that were pending at the end of a tick, as far as it is known
    /// yet that they were not settled or collected since.
    long promises();

    /// Entries that have gone from the registry because their promise was settled or collected.
    long promisesScavenged();

    /// How often the registry was rebuilt, larger or smaller.
    long registryRebuilds();

    /// Promisified work and stages of others that the loop waits for at this instant.
    long awaited();

    /// Rejections that nobody handled in time.
    long unhandledRejections();

    /// Waits that were allowed to block.
    long sleeps();

    /// Looks at the kernel that were not allowed to block.
    long polls();

    /// Signals written to wake the loop. A running loop causes none.
    long wakeups();

    /// Throwables that escaped from callbacks.
    long failures();

    /// Tasks from `submit` that wait at this instant.
    int depth();

    /// Tasks from `submitPriority` that wait at this instant.
    int priorityDepth();

    /// How many streams are open.
    long streams();

    /// How many streams there were so far, those included that are open.
    long streamsOpened();

    /// Returns how many connections listeners closed at once because of a limit such as
    /// [dev.gyre.io.ListenerConfig#maxConnectionsPerPeer].
    long connectionsRefused();

    /// Returns how many connections listeners closed at once for lack of descriptors or kernel
    /// memory.
    long connectionsShed();

    /// Returns how often descriptors or kernel memory ran out while a listener of this loop
    /// accepted. One loop of the process counts each episode. An episode ends after five seconds
    /// without a refusal.
    long exhaustions();

    /// How many streams were closed so far for a reason.
    long streamsClosed(CloseReason reason);
}
