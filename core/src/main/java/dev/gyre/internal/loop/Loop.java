package dev.gyre.internal.loop;

import dev.gyre.BlockingWork;
import dev.gyre.Cancellation;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.RunMode;
import dev.gyre.ShutdownReport;
import dev.gyre.SubmitResult;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.MemoryBudget;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.loop.RunControl.Until;
import dev.gyre.internal.promise.Futures;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.sys.Platform;
import dev.gyre.internal.time.Durations;
import dev.gyre.internal.time.LoopClock;
import dev.gyre.internal.time.TimerQueue;
import dev.gyre.io.Descriptor;
import dev.gyre.metrics.LoopMetrics;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/// The loop: checks who calls and with what, and puts the parts together. What a turn does is in [Tick],
/// how it waits in [Poller], how it ends in [Shutdown].
public final class Loop implements EventLoop, LoopContext {
    private final LoopConfig config;
    private final Backend backend;
    private final StateCell state;
    private final RunLimits limits;
    private final Ingress ingress;
    private final LoopClock clock;
    private final TimerQueue timers;
    private final Watchers watchers;
    private final LoopOperations operations;
    private final OwnedResources resources;
    private final TaskRing deferred;
    private final Microtasks microtasks;
    private final Promises promises;
    private final RunControl runs;
    private final Shutdown shutdown;
    private final LoopMetrics metrics;

    private final Confinement confinement;

    private Loop(
            MemoryBudget.Reservation memory, Backend backend, Optional<String> backendFallback) {
        config = memory.config(); // First: the components read it.
        this.backend = backend;
        LoopComponents components = new LoopComponents(config, backend, this, this);
        confinement = components.confinement;
        state = components.state;
        limits = components.limits;
        ingress = components.ingress;
        clock = components.clock;
        timers = components.timers;
        watchers = components.watchers;
        operations = components.operations;
        resources = components.resources;
        deferred = components.deferred;
        microtasks = components.microtasks;
        promises = components.promises;
        Tick tick = new Tick(components);
        shutdown = new Shutdown(components, tick);
        runs = new RunControl(components, tick, shutdown);
        metrics = new Metrics(components, tick, backendFallback);
        boolean _ = resources.tryAdd(memory);
    }

    public static Loop open(LoopConfig config) {
        Objects.requireNonNull(config, "config");
        Platform.requireSupported();
        FdReaper.reclaim();
        return open(config, Backends.open(config));
    }

    /// A loop over the given backend, which it owns from now on.
    public static Loop open(LoopConfig config, Backend backend) {
        return open(config, new Backends.Choice(backend, Optional.empty()));
    }

    private static Loop open(LoopConfig config, Backends.Choice choice) {
        Backend backend = choice.backend();
        MemoryBudget.Reservation memory = null;
        try {
            memory = MemoryBudget.PROCESS.reserve(config);
            return new Loop(memory, backend, choice.fallback());
        } catch (Throwable e) {
            backend.close();
            if (memory != null) {
                memory.close();
            }
            throw e;
        }
    }

    /// The loop behind the interface, which permits no other.
    public static Loop of(EventLoop loop) {
        return (Loop) Objects.requireNonNull(loop, "loop");
    }

    public Backend backend() {
        return backend;
    }

    public LoopOperations operations() {
        return operations;
    }

    public Promises promises() {
        return promises;
    }

    // ------------------------------------------------------------------ running

    @Override
    public void run(RunMode mode) {
        Objects.requireNonNull(mode, "mode");
        runs.enter();
        runs.run(mode == RunMode.DRAINED ? Until.STOPPED_AND_DRAINED : Until.STOPPED);
    }

    @Override
    public long runOne() {
        runs.enter().limitToOneCallback();
        return runs.run(Until.EMPTY);
    }

    @Override
    public long runSome() {
        runs.enter().limitWaits(1);
        return runs.run(Until.SOMETHING_RAN);
    }

    @Override
    public long runUntilEmpty() {
        runs.enter();
        return runs.run(Until.EMPTY);
    }

    @Override
    public long runFor(Duration duration) {
        long nanos = Durations.saturatedNanos("duration", duration);
        runs.enter().limitTime(backend.nanoTime() + nanos);
        return runs.run(Until.TIME_IS_UP);
    }

    @Override
    public void stop() {
        StackReserve.requireSmall();
        limits.requestStop();
        ingress.wakeIfAsleep();
    }

    // ------------------------------------------------------------------ submitting

    @Override
    public void submit(Runnable task) {
        switch (trySubmit(task)) {
            case ACCEPTED -> {}
            case OVERLOADED ->
                    throw new LoopOverloadedException(
                            "loop "
                                    + config.name()
                                    + " refuses "
                                    + nameOf(task)
                                    + ": "
                                    + config.highWaterMark()
                                    + " tasks are waiting (LoopConfig.withHighWaterMark)");
            case TERMINATED -> throw refusedException(task);
        }
    }

    @Override
    public SubmitResult trySubmit(Runnable task) {
        Objects.requireNonNull(task, "task");
        return ingress.submit(task);
    }

    @Override
    public void submitPriority(Runnable task) {
        Objects.requireNonNull(task, "task");
        if (!ingress.submitPriority(task)) {
            throw refusedException(task);
        }
    }

    @Override
    public boolean trySubmitPriority(Runnable task) {
        return ingress.submitPriority(task);
    }

    private LoopTerminatedException refusedException(Runnable task) {
        return new LoopTerminatedException(
                "loop " + config.name() + " refuses " + nameOf(task) + ": it is " + state.get());
    }

    /// Not by its own words: a task's toString may fail, or be long.
    private static String nameOf(Runnable task) {
        return task.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(task));
    }

    @Override
    public void defer(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        requireOpen("defer");
        deferred.add(callback);
    }

    @Override
    public void microtask(Runnable microtask) {
        Objects.requireNonNull(microtask, "microtask");
        requireOpen("microtask");
        microtasks.add(microtask);
    }

    // ------------------------------------------------------------------ promises

    @Override
    public <T extends @Nullable Object> Deferred<T> deferred() {
        return promises.deferred();
    }

    @Override
    public <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, Cancellation cancellation, BlockingWork<? extends T> work) {
        return promises.make.promisify(executor, cancellation, work);
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> call(
            Callable<? extends Promise<? extends T>> body) {
        Objects.requireNonNull(body, "body");
        return Futures.call(this, body);
    }

    // ------------------------------------------------------------------ descriptors

    @Override
    public Watcher watch(Descriptor descriptor, WatchSpec watch) {
        Objects.requireNonNull(descriptor, "descriptor");
        Objects.requireNonNull(watch, "watch");
        requireOpen("watch");
        operations.yieldTo((OpenDescriptor) descriptor);
        return watchers.watch(descriptor, watch);
    }

    @Override
    public void unwatch(Descriptor descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        confinement.require("unwatch");
        watchers.unwatch(descriptor);
    }

    @Override
    public void own(AutoCloseable resource) {
        Objects.requireNonNull(resource, "resource");
        requireOpen("own");
        if (!resources.tryAdd(resource)) {
            throw terminatedException("own");
        }
    }

    @Override
    public void disown(AutoCloseable resource) {
        Objects.requireNonNull(resource, "resource");
        confinement.require("disown");
        resources.remove(resource);
    }

    // ------------------------------------------------------------------ time

    @Override
    public Timer after(Duration delay, Consumer<? super Timer> callback) {
        long nanos = Durations.nanos("delay", delay);
        Objects.requireNonNull(callback, "callback");
        requireOpen("after");
        return timers.schedule(Durations.deadline("delay", nowNanos(), nanos), 0, callback);
    }

    @Override
    public Timer at(long deadlineNanos, Consumer<? super Timer> callback) {
        Objects.requireNonNull(callback, "callback");
        requireOpen("at");
        Durations.requireWithinReach("deadline", deadlineNanos, nowNanos());
        return timers.schedule(deadlineNanos, 0, callback);
    }

    @Override
    public Timer every(Duration period, Consumer<? super Timer> callback) {
        long nanos = Durations.nanos("period", period);
        if (nanos == 0) {
            throw new IllegalArgumentException("period must be positive, but is " + period);
        }
        Objects.requireNonNull(callback, "callback");
        requireOpen("every");
        return timers.schedule(Durations.deadline("period", nowNanos(), nanos), nanos, callback);
    }

    @Override
    public long nowNanos() {
        if (confinement.thread() == null) {
            clock.update(); // Kept, so that nobody is told an earlier time afterwards.
        }
        return clock.nanos();
    }

    @Override
    public long nanoTime() {
        return backend.nanoTime();
    }

    // ------------------------------------------------------------------ looking

    @Override
    public LoopState state() {
        return state.get();
    }

    @Override
    public boolean isLoopThread() {
        return confinement.isHere();
    }

    @Override
    public @Nullable Thread thread() {
        return confinement.thread();
    }

    @Override
    public LoopMetrics metrics() {
        return metrics;
    }

    @Override
    public LoopConfig config() {
        return config;
    }

    @Override
    public String toString() {
        return "EventLoop[" + config.name() + ", " + backend.name() + ", " + state.get() + "]";
    }

    /// What the loop owns of that type, the latest one: for parts that a loop has at most one of.
    public <T extends AutoCloseable> @Nullable T owned(Class<T> type) {
        return resources.find(type);
    }

    @Override
    public EventLoop loop() {
        return this;
    }

    /// Checks like [#requireConfined(String)], and that enough stack is left for a method outside
    /// this class, which needs more of it (E-4).
    public void requireConfinedWithStack(String method) {
        StackReserve.requireLarge();
        requireConfined(method);
    }

    /// Checks like [#requireOpen(String)], and that enough stack is left.
    public void requireOpenWithStack(String method) {
        StackReserve.requireLarge();
        requireOpen(method);
    }

    @Override
    public void requireConfined(String method) {
        confinement.require(method);
    }

    @Override
    public void requireOpen(String method) {
        confinement.require(method);
        // Callbacks of the final drain may still start work.
        if (state.is(LoopState.TERMINATED) && (!isLoopThread() || shutdown.isReleasing())) {
            throw terminatedException(method);
        }
    }

    private LoopTerminatedException terminatedException(String method) {
        return new LoopTerminatedException(
                "loop " + config.name() + " is TERMINATED: " + method + " comes too late");
    }

    @Override
    public boolean isWatched(int fd) {
        return watchers.isWatched(fd);
    }

    @Override
    public void wakeLoop() {
        if (confinement.isElsewhere()) {
            backend.wake();
        }
    }

    // ------------------------------------------------------------------ shutdown

    @Override
    public boolean isShuttingDown() {
        return state.isShuttingDown();
    }

    @Override
    public boolean mustNotBlock() {
        return isLoopThread() || shutdown.isShutdownThread();
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // the action does not fail
    public void whenTerminated(Runnable action) {
        shutdown.outcome().whenComplete((report, failure) -> action.run());
    }

    @Override
    public CompletionStage<ShutdownReport> shutdown(Duration deadline) {
        long nanos = Durations.saturatedNanos("deadline", deadline);
        shutdown.beginGraceful(backend.nanoTime() + nanos);
        return shutdown.outcome().minimalCompletionStage();
    }

    @Override
    public void close() {
        shutdown.beginImmediate();
        if (mustNotBlock()) {
            return; // Waiting for oneself would never end.
        }
        try {
            shutdown.outcome().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("loop " + config.name() + " did not end well", e);
        }
    }
}
