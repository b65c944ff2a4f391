package dev.gyre.internal.loop;

import dev.gyre.io.CloseReason;
import dev.gyre.metrics.LoopMetrics;

import java.util.Optional;

/// The counters that the parts keep, gathered for whoever wants to read them. Any thread.
public final class Metrics implements LoopMetrics {
    private final Parts parts;
    private final Tick tick;
    private final Optional<String> backendFallback;

    Metrics(Parts parts, Tick tick, Optional<String> backendFallback) {
        this.parts = parts;
        this.tick = tick;
        this.backendFallback = backendFallback;
    }

    @Override
    public String backend() {
        return parts.backend.name();
    }

    @Override
    public Optional<String> backendFallback() {
        return backendFallback;
    }

    @Override
    public String backendDetail() {
        return parts.backend.describe();
    }

    @Override
    public long ticks() {
        return tick.ticks.get();
    }

    @Override
    public long callbacks() {
        return parts.callbacks.all.get();
    }

    @Override
    public long tasks() {
        return parts.callbacks.tasks.get();
    }

    @Override
    public long priorityTasks() {
        return parts.callbacks.priorityTasks.get();
    }

    @Override
    public long timers() {
        return parts.callbacks.timers.get();
    }

    @Override
    public long microtasks() {
        return parts.callbacks.microtasks.get();
    }

    @Override
    public int watchers() {
        return parts.watchers.size();
    }

    @Override
    public int operations() {
        return parts.requests.outstanding();
    }

    @Override
    public long operationsCompleted() {
        return parts.requests.completedCount();
    }

    @Override
    public long bufferMemory() {
        return parts.operations.pool().used();
    }

    @Override
    public long promises() {
        return parts.promises.live();
    }

    @Override
    public long promisesScavenged() {
        return parts.promises.scavenged();
    }

    @Override
    public long registryRebuilds() {
        return parts.promises.rebuilt();
    }

    @Override
    public long awaited() {
        return parts.promises.awaited();
    }

    @Override
    public long unhandledRejections() {
        return parts.promises.unhandled.count();
    }

    @Override
    public long sleeps() {
        return parts.sleep.sleeps.get();
    }

    @Override
    public long polls() {
        return parts.sleep.polls.get();
    }

    @Override
    public long wakeups() {
        return parts.backend.wakeups();
    }

    @Override
    public long failures() {
        return parts.failures.count();
    }

    @Override
    public int depth() {
        return parts.ingress.external.depth();
    }

    @Override
    public int priorityDepth() {
        return parts.ingress.priority.depth();
    }

    @Override
    public long streams() {
        return parts.operations.streamCounters().open();
    }

    @Override
    public long streamsOpened() {
        return parts.operations.streamCounters().allOpened();
    }

    @Override
    public long connectionsRefused() {
        return parts.operations.streamCounters().allRefused();
    }

    @Override
    public long connectionsShed() {
        return parts.operations.streamCounters().allShed();
    }

    @Override
    public long exhaustions() {
        return parts.operations.streamCounters().exhaustions();
    }

    @Override
    public long streamsClosed(CloseReason reason) {
        return parts.operations.streamCounters().closedFor(reason);
    }
}
