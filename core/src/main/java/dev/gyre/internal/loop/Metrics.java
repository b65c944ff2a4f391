package dev.gyre.internal.loop;

import dev.gyre.LoopState;
import dev.gyre.internal.base.StackFrames;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.Histogram;
import dev.gyre.metrics.LoopMetrics;
import dev.gyre.metrics.RunningCallback;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Reads the counters of the components. Any thread.
public final class Metrics implements LoopMetrics {
    private final LoopComponents components;
    private final Tick tick;
    private final Optional<String> backendFallback;

    Metrics(LoopComponents components, Tick tick, Optional<String> backendFallback) {
        this.components = components;
        this.tick = tick;
        this.backendFallback = backendFallback;
    }

    @Override
    public String backend() {
        return components.backend.name();
    }

    @Override
    public Optional<String> backendFallback() {
        return backendFallback;
    }

    @Override
    public String backendDetail() {
        return components.backend.describe();
    }

    @Override
    public long ticks() {
        return tick.ticks.get();
    }

    @Override
    public long callbacks() {
        return components.callbacks.all.get();
    }

    @Override
    public long tasks() {
        return components.callbacks.tasks.get();
    }

    @Override
    public long priorityTasks() {
        return components.callbacks.priorityTasks.get();
    }

    @Override
    public long timers() {
        return components.callbacks.timers.get();
    }

    @Override
    public long microtasks() {
        return components.callbacks.microtasks.get();
    }

    @Override
    public int watchers() {
        return components.watchers.size();
    }

    @Override
    public int operations() {
        return components.requests.outstanding();
    }

    @Override
    public long operationsCompleted() {
        return components.requests.completions().completedCount();
    }

    @Override
    public long bufferMemory() {
        return components.operations.pool().used();
    }

    @Override
    public long bufferMemoryLimit() {
        return components.operations.pool().limit();
    }

    @Override
    public long promises() {
        return components.promises.live();
    }

    @Override
    public long promisesScavenged() {
        return components.promises.scavenged();
    }

    @Override
    public long registryRebuilds() {
        return components.promises.rebuilt();
    }

    @Override
    public long awaited() {
        return components.promises.awaited();
    }

    @Override
    public long unhandledRejections() {
        return components.promises.unhandled.count();
    }

    @Override
    public long sleeps() {
        return components.poller.sleeps.get();
    }

    @Override
    public long polls() {
        return components.poller.polls.get();
    }

    @Override
    public long wakeups() {
        return components.backend.wakeups();
    }

    @Override
    public long failures() {
        return components.callbacks.failures.get();
    }

    @Override
    public long tasksRejected() {
        return components.ingress.rejected.sum();
    }

    @Override
    public int queuedTasks() {
        return components.ingress.external.depth();
    }

    @Override
    public int queuedPriorityTasks() {
        return components.ingress.priority.depth();
    }

    @Override
    public Duration activeTime() {
        return Duration.ofNanos(components.timings.activeNanos.get());
    }

    @Override
    public Duration idleTime() {
        return Duration.ofNanos(components.timings.idleNanos.get());
    }

    @Override
    public double utilization() {
        return components.timings.utilization(isAwake());
    }

    @Override
    public Histogram tickDuration() {
        return components.timings.tickDuration.snapshot();
    }

    @Override
    public Histogram pollWait() {
        return components.timings.pollWait.snapshot();
    }

    @Override
    public Histogram taskDelay() {
        return components.timings.taskDelay.snapshot();
    }

    @Override
    public Histogram readyDelay() {
        return components.timings.readyDelay.snapshot();
    }

    @Override
    public Histogram timerLateness() {
        return components.timings.timerLateness.snapshot();
    }

    @Override
    public Histogram callbackDuration(CallbackKind kind) {
        return components.timings.durationOf(kind).snapshot();
    }

    @Override
    public Optional<RunningCallback> running() {
        boolean terminating = components.state.is(LoopState.TERMINATING);
        CallbackKind kind = isAwake() || terminating ? components.timings.runningKind() : null;
        if (kind == null) {
            return Optional.empty();
        }
        long nanos = components.timings.elapsedNanos();
        return Optional.of(
                new RunningCallback(kind, describe(kind, nanos), Duration.ofNanos(nanos)));
    }

    /// Takes the stack of the loop thread, which stops it for a moment, only if it is slow anyway.
    private String describe(CallbackKind kind, long elapsedNanos) {
        String described = kind == CallbackKind.IO ? components.dispatcher.describeRunning() : "";
        Thread thread = components.confinement.thread();
        return !described.isEmpty() || thread == null || elapsedNanos < LoopTimings.SLOW_NANOS
                ? described
                : StackFrames.firstUserFrame(List.of(thread.getStackTrace()))
                        .map(StackTraceElement::toString)
                        .orElse("");
    }

    private boolean isAwake() {
        return components.state.is(LoopState.RUNNING);
    }

    @Override
    public long streams() {
        return components.operations.streamCounters().open();
    }

    @Override
    public long streamsOpened() {
        return components.operations.streamCounters().opened.get();
    }

    @Override
    public long streamsMovedIn() {
        return components.operations.streamCounters().movedIn.get();
    }

    @Override
    public long streamsMovedOut() {
        return components.operations.streamCounters().movedOut.get();
    }

    @Override
    public long connectionsRefused() {
        return components.operations.streamCounters().refused.get();
    }

    @Override
    public long connectionsShed() {
        return components.operations.streamCounters().shed.get();
    }

    @Override
    public long exhaustions() {
        return components.operations.streamCounters().exhaustions.get();
    }

    @Override
    public long streamsClosed(CloseReason reason) {
        return components.operations.streamCounters().closedFor(reason);
    }
}
