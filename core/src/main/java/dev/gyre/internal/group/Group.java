package dev.gyre.internal.group;

import dev.gyre.EventLoop;
import dev.gyre.GroupReport;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.PerLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/// The loops of a [LoopGroup], their failures and their common end.
///
/// ```
///          start()            shutdown(), close(), a failure           last loop has exited
///     NEW ────────▶ RUNNING ─────────────────────────────────▶ ENDING ────────────────────▶ ENDED
///      └────────────────────── shutdown(), close() ──────────────▲
/// ```
///
/// The last loop has exited when its run has returned and its failure is recorded. No callback runs
/// under the lock.
public final class Group implements LoopGroup {
    private static final int MAX_SIZE = 1_024;

    private enum State {
        NEW,
        RUNNING,
        ENDING,
        ENDED
    }

    private final LoopGroupConfig config;
    private final LoopHost host;
    private final LoopSlots loops;
    private final CompletableFuture<GroupReport> ended = new CompletableFuture<>();
    private final GroupDrain drain;
    private final LoopFailures failures;
    private final AtomicBoolean catchesSignals = new AtomicBoolean();
    private final Object lock = new Object();

    // Shared: guarded by the lock. Unfinished are loops that run, and tasks.
    private State state = State.NEW;
    private int started;
    private int unfinished;
    private boolean terminating;
    private boolean finishing;

    private Group(int size, LoopGroupConfig config, LoopHost host) {
        this.config = config;
        this.host = host;
        loops = new LoopSlots(size, config.loopConfig(), host);
        drain = new GroupDrain(this, loops);
        failures = new LoopFailures(this, loops, host.isThreaded());
    }

    public static Group open(int size, LoopGroupConfig config) {
        return open(size, config, new ThreadHost());
    }

    public static Group open(int size, LoopGroupConfig config, LoopHost host) {
        Checks.range("size", size, 1, MAX_SIZE);
        Objects.requireNonNull(config, "config");
        Group group = new Group(size, config, host);
        try {
            for (int i = 0; i < size; i++) {
                group.loops.set(group.loops.open(i));
            }
            return group;
        } catch (Throwable e) {
            group.close();
            throw e;
        }
    }

    // ------------------------------------------------------------------ loops

    @Override
    public int size() {
        return loops.size();
    }

    public LoopGroupConfig config() {
        return config;
    }

    public Loop loop(int index) {
        return loops.get(index);
    }

    @Override
    public List<EventLoop> loops() {
        return new ArrayList<>(loops.all());
    }

    @Override
    public EventLoop next() {
        return loops.next();
    }

    /// Returns the index of a loop; -1 if it is not a current loop of this group.
    public int indexOf(EventLoop loop) {
        return loops.indexOf(Loop.of(loop));
    }

    @Override
    public void forEach(Consumer<? super EventLoop> action) {
        Objects.requireNonNull(action, "action");
        requireOutside("forEach");
        for (Loop loop : loops.all()) {
            onLoop(loop, () -> action.accept(loop));
        }
    }

    @Override
    public <T> PerLoop<T> perLoop(Function<? super EventLoop, ? extends T> factory) {
        return perLoop(factory, null);
    }

    /// Creates values for their owner, which ends with the group from now on.
    public <T> LoopValues<T> perLoop(
            Function<? super EventLoop, ? extends T> factory, LoopValues.@Nullable Member owner) {
        requireOutside("perLoop");
        LoopValues<T> made = new LoopValues<>(loops, factory, owner);
        synchronized (lock) {
            if (owner != null) {
                requireNotEnding(); // Or the shutdown would not drain it.
            }
            loops.add(made); // First: a loop that replaces another one now needs a value.
        }
        try {
            loops.all().forEach(loop -> create(made, loop));
            return made;
        } catch (Throwable e) {
            loops.remove(made);
            made.close(this::onLoop);
            throw e;
        }
    }

    private void create(LoopValues<?> made, Loop loop) {
        try {
            onLoop(loop, () -> made.create(loop));
        } catch (LoopTerminatedException e) {
            // A loop that failed during perLoop(). Its replacement creates the value.
            if (!loop.isShuttingDown() || !isRunning()) {
                throw e;
            }
        }
    }

    /// Runs an action that is confined to the loop, and waits for it.
    private void onLoop(EventLoop loop, Runnable action) {
        boolean direct;
        synchronized (lock) {
            if (state == State.ENDED) {
                throw new IllegalStateException("the group has terminated: open a new group");
            }
            direct = state == State.NEW || !host.isThreaded();
        }
        if (direct) {
            action.run();
            return;
        }
        try {
            loop.call(
                            () -> {
                                action.run();
                                return Promise.resolved(loop, null);
                            })
                    .join();
        } catch (CompletionException e) {
            throw e.getCause() == null ? e : Throwables.rethrow(e.getCause());
        }
    }

    /// Returns whether the calling thread must not wait for the loops.
    boolean isInside() {
        return host.isThreadOf(this) || loops.all().stream().anyMatch(Loop::mustNotBlock);
    }

    private void requireOutside(String method) {
        if (isInside()) {
            throw new IllegalStateException(
                    "LoopGroup.%s waits for loops, so it must not be called on loop thread %s"
                                    .formatted(method, Thread.currentThread().getName())
                            + ": call it before start(), or on another thread");
        }
    }

    // ------------------------------------------------------------------ running

    @Override
    public void start() {
        synchronized (lock) {
            requireNotEnding();
            if (state == State.RUNNING) {
                return;
            }
            state = State.RUNNING;
        }
        try {
            for (int i = 0; i < size() && mayStart(); i++) {
                host.start(this, i);
            }
        } catch (Throwable e) {
            exited(); // Counts the loop whose thread did not start.
            close(); // A group must not run with some of its loops.
            throw e;
        }
    }

    private boolean mayStart() {
        synchronized (lock) {
            if (state == State.RUNNING) {
                started++;
                unfinished++;
                return true;
            }
            return false; // The group was closed during start().
        }
    }

    boolean isRunning() {
        synchronized (lock) {
            return state == State.RUNNING;
        }
    }

    @Override
    public GroupReport run() {
        requireOutside("run");
        host.requireWaiting("run", ended);
        if (!catchesSignals.getAndSet(true)) {
            PerLoop<?> _ = perLoop(new GroupSignals(this)::subscribe);
        }
        start();
        return ended.join();
    }

    @Override
    public GroupReport await() throws InterruptedException {
        requireOutside("await");
        host.requireWaiting("await", ended);
        try {
            return ended.get();
        } catch (ExecutionException e) {
            throw new AssertionError("the termination future never fails", e);
        }
    }

    // ------------------------------------------------------------------ the end of a loop

    /// Shuts the group down after application code has stopped or closed one of its loops.
    ///
    /// @return whether the caller must run the loop again
    public boolean loopStopped(Loop loop) {
        if (isRunning()) {
            String message = "loop {0} was stopped, so its group shuts down";
            Log.LOG.log(Level.INFO, message, loop.config().name());
            CompletionStage<GroupReport> _ = shutdown(config.shutdownTimeout());
        }
        return loop.state() != LoopState.TERMINATED;
    }

    /// Closes a loop whose run threw, and replaces it if the configuration permits. Called by the
    /// thread that ran the loop.
    ///
    /// @return whether a new loop is to be run
    public boolean loopFailed(int index, Throwable cause) {
        return failures.loopFailed(index, cause);
    }

    /// Makes a loop the current one of its index, so that the end of the group includes it.
    ///
    /// @return false if the group is ending
    boolean tryReplace(Loop loop) {
        synchronized (lock) {
            if (state == State.RUNNING) {
                loops.set(loop);
                return true;
            }
            return false;
        }
    }

    /// The end of the group waits for [#endTask()].
    void beginTask() {
        synchronized (lock) {
            unfinished++;
        }
    }

    void endTask() {
        synchronized (lock) {
            unfinished--;
        }
        finishIfExited();
    }

    /// Called once for each started loop, after its last run. If the group runs, an exception has
    /// ended the thread: a group with a loop that no thread runs must not continue.
    public void exited() {
        endTask();
        if (isRunning()) {
            beginClose();
        }
    }

    // ------------------------------------------------------------------ the end of the group

    @Override
    public void onShutdown(Function<? super Duration, ? extends CompletionStage<?>> action) {
        Objects.requireNonNull(action, "action");
        synchronized (lock) {
            requireNotEnding();
            drain.add(action);
        }
    }

    private void requireNotEnding() {
        if (state == State.ENDING || state == State.ENDED) {
            String now = state == State.ENDED ? "has terminated" : "is shutting down";
            throw new IllegalStateException(
                    "the group " + now + ", so it starts no new work: open a new group");
        }
    }

    @Override
    public CompletionStage<GroupReport> shutdown(Duration deadline) {
        long nanos = Durations.saturatedNanos("deadline", deadline);
        boolean drains;
        synchronized (lock) {
            if (state == State.ENDING || state == State.ENDED) {
                return ended.minimalCompletionStage();
            }
            drains = state == State.RUNNING && started == size(); // Else loops lack a thread.
            state = State.ENDING;
        }
        long end = loops.get(0).nanoTime() + nanos;
        if (drains) {
            drain.run(deadline, end);
        } else {
            endLoops(end);
        }
        return ended.minimalCompletionStage();
    }

    /// Shuts down the loops in the time that is left.
    void endLoops(long end) {
        int running;
        synchronized (lock) {
            if (terminating) {
                return; // close() or the deadline has done this.
            }
            terminating = true;
            running = started;
        }
        drain.disarm();
        forAll(
                loop -> {
                    if (loop.groupIndex < running) {
                        host.shutdown(loop, end);
                    } else {
                        LoopHost.shutdownNow(loop, end);
                    }
                });
    }

    @Override
    public void close() {
        beginClose();
        if (isInside()) {
            return; // A loop thread cannot wait for its own termination.
        }
        host.runClosing(this);
        try {
            GroupReport _ = ended.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new AssertionError("the termination future never fails", e);
        }
    }

    void beginClose() {
        synchronized (lock) {
            if (state != State.ENDED) {
                state = State.ENDING; // Without the actions of onShutdown.
            }
            terminating = true;
        }
        forAll(Loop::beginClose);
    }

    /// Terminates all loops. This thread releases those that no thread runs.
    private void forAll(Consumer<Loop> terminate) {
        try {
            loops.forAll(terminate);
        } finally {
            finishIfExited();
        }
    }

    private void finishIfExited() {
        synchronized (lock) {
            if (unfinished > 0 || state != State.ENDING || finishing) {
                return;
            }
            finishing = true;
        }
        List<ShutdownReport> reports = loops.reports();
        synchronized (lock) {
            state = State.ENDED;
        }
        loops.endMembers();
        ended.complete(new GroupReport(reports, failures.all()));
    }

    @Override
    public boolean isTerminated() {
        return ended.isDone();
    }

    @Override
    public String toString() {
        return "LoopGroup[" + config.loopConfig().name() + ", " + size() + " loops]";
    }
}
