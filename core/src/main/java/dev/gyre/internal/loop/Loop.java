package dev.gyre.internal.loop;

import dev.gyre.BlockingWork;
import dev.gyre.Cancellation;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
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
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.MemoryBudget;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.PromiseFuture;
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

/// The loop: checks callers and arguments, and delegates to its components. [Tick] has the steps
/// of a tick, [Poller] the sleep, [Shutdown] the end.
public final class Loop implements EventLoop, LoopContext {
    private final LoopConfig config;
    private final Backend backend;
    private final StateCell state;
    private final Ingress ingress;
    private final LoopClock clock;
    public final TimerQueue timers;
    private final Watchers watchers;
    private final LoopOperations operations;
    private final TaskRing deferred;
    private final Microtasks microtasks;
    private final Promises promises;
    private final RunControl runs;
    private final Shutdown shutdown;
    private final LoopMetrics metrics;
    private final Confinement confinement;
    public final TraceRecorder trace;

    /// The index in the loop's group; -1 without a group. Set before the loop runs.
    public int groupIndex = -1;

    private Loop(
            MemoryBudget.Reservation memory, Backend backend, Optional<String> backendFallback) {
        config = memory.config(); // First: the components read it.
        this.backend = backend;
        LoopComponents components = new LoopComponents(config, backend, this, this);
        confinement = components.confinement;
        trace = components.trace;
        state = components.state;
        ingress = components.ingress;
        clock = components.clock;
        timers = components.timers;
        watchers = components.watchers;
        operations = components.operations;
        deferred = components.deferred;
        microtasks = components.microtasks;
        promises = components.promises;
        Tick tick = new Tick(components);
        shutdown = new Shutdown(components, tick);
        runs = new RunControl(components, tick, shutdown);
        metrics = new Metrics(components, tick, backendFallback);
        boolean _ = shutdown.tryOwn(memory);
    }

    public static Loop open(LoopConfig config) {
        Objects.requireNonNull(config, "config");
        Platform.requireSupported();
        FdReaper.reclaim();
        return open(config, Backends.open(config));
    }

    /// Opens a loop over the given backend, and takes ownership of the backend.
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

    /// Returns the loop behind the interface, which permits no other implementation.
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
        runs.run(Objects.requireNonNull(mode, "mode"));
    }

    @Override
    public long runOne() {
        return runs.runOne();
    }

    @Override
    public long runSome() {
        return runs.runSome();
    }

    @Override
    public long runUntilEmpty() {
        return runs.runUntilEmpty();
    }

    @Override
    public long runFor(Duration duration) {
        long nanos = Durations.saturatedNanos("duration", duration);
        return runs.runUntil(backend.nanoTime() + nanos);
    }

    @Override
    public void stop() {
        StackReserve.requireSmall();
        runs.stop();
    }

    // ------------------------------------------------------------------ submitting

    @Override
    public void submit(Runnable task) {
        SubmitResult result = trySubmit(task);
        if (result != SubmitResult.ACCEPTED) {
            throw Ingress.rejection(this, task, result);
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
            throw Ingress.rejection(this, task, SubmitResult.TERMINATED);
        }
    }

    @Override
    public boolean trySubmitPriority(Runnable task) {
        return ingress.submitPriority(task);
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

    @Override
    public <T extends @Nullable Object> Deferred<T> deferred() {
        return promises.deferred();
    }

    @Override
    public <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, Cancellation cancellation, BlockingWork<? extends T> work) {
        return promises.promisify(executor, cancellation, work);
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> call(
            Callable<? extends Promise<? extends T>> body) {
        Objects.requireNonNull(body, "body");
        return PromiseFuture.call(this, body);
    }

    /// Calls the body like [#call], but through the priority lane: an overloaded loop accepts it.
    public <T extends @Nullable Object> CompletableFuture<T> callPriority(
            Callable<? extends Promise<? extends T>> body) {
        return PromiseFuture.callPriority(this, body);
    }

    // ------------------------------------------------------------------ descriptors

    @Override
    public Watcher watch(Descriptor descriptor, WatchSpec watch) {
        Objects.requireNonNull(descriptor, "descriptor");
        Objects.requireNonNull(watch, "watch");
        requireOpen("watch");
        operations.releaseToWatcher((OpenDescriptor) descriptor);
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
        if (!shutdown.tryOwn(resource)) {
            throw terminatedException("own");
        }
    }

    @Override
    public void disown(AutoCloseable resource) {
        Objects.requireNonNull(resource, "resource");
        confinement.require("disown");
        shutdown.disown(resource);
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
        Durations.requireComparable("deadline", deadlineNanos, nowNanos());
        return timers.schedule(deadlineNanos, 0, callback);
    }

    @Override
    public Timer every(Duration period, Consumer<? super Timer> callback) {
        Checks.range("period", period, Duration.ofNanos(1), null);
        long nanos = Durations.nanos("period", period);
        Objects.requireNonNull(callback, "callback");
        requireOpen("every");
        return timers.schedule(Durations.deadline("period", nowNanos(), nanos), nanos, callback);
    }

    @Override
    public long nowNanos() {
        if (confinement.thread() == null) {
            clock.update(); // Stored, so that no later call returns an earlier time.
        }
        return clock.nanos();
    }

    @Override
    public long nanoTime() {
        return backend.nanoTime();
    }

    // ------------------------------------------------------------------ state

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

    /// Returns the latest owned resource of the type, or null if absent.
    public <T extends AutoCloseable> @Nullable T owned(Class<T> type) {
        return shutdown.find(type);
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
                "loop " + config.name() + " is TERMINATED: too late for " + method);
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

    /// Begins what [#close()] does, without waiting.
    public void beginClose() {
        shutdown.beginImmediate();
    }

    @Override
    public void close() {
        beginClose();
        if (mustNotBlock()) {
            return; // It would wait for itself.
        }
        try {
            shutdown.outcome().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("loop " + config.name() + " failed to shut down", e);
        }
    }
}
