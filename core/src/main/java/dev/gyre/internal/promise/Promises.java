package dev.gyre.internal.promise;

import dev.gyre.BlockingWork;
import dev.gyre.Cancellation;
import dev.gyre.Deferred;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.TaskRing;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/// The promises of one loop: creates them, enqueues their reactions, and rejects the pending ones
/// when the loop terminates.
///
/// Loop thread only, without a lock. While no thread runs the loop, one thread may set it up and
/// another may terminate it. Both then hold the lock. A thread that begins to run the loop acquires
/// it once.
public final class Promises {
    /// The number of registry slots that each tick scans.
    static final int SLOTS_PER_TICK = 20;

    /// A priority task of the loop without user code. A loop that is being closed drops other tasks
    /// but runs these, because threads may wait for them.
    public interface Settlement extends Runnable {}

    final LoopContext context;
    final Confinement confinement;
    final TaskRing microtasks;
    final ExternalWork.Pending externalWork = new ExternalWork.Pending();
    public final UnhandledRejections unhandled = new UnhandledRejections();
    final Registry registry = new Registry();
    final boolean tracing;

    // Shared: any thread may be the first to ask for a promise's id.
    private final AtomicLong lastId = new AtomicLong();

    private final Object lock = new Object();

    // Loop thread, or with the lock.

    /// The position up to which the queued microtasks were scanned.
    private long scannedMicrotasks;

    /// The reason for rejecting pending promises; `null` until the loop begins to reject them.
    private @Nullable LoopTerminatedException termination;

    /// Whether the loop is terminated: handlers no longer run and nothing is attached.
    private boolean stopped;

    public Promises(
            LoopContext context, Confinement confinement, TaskRing microtasks, boolean tracing) {
        this.context = context;
        this.confinement = confinement;
        this.microtasks = microtasks;
        this.tracing = tracing;
    }

    public <T extends @Nullable Object> Deferred<T> deferred() {
        return isLoopThread() && termination == null
                ? new LoopDeferred<>(this.<T>pending())
                : create("deferred", () -> new LoopDeferred<>(this.<T>pending()));
    }

    private <T extends @Nullable Object> LoopPromise<T> pending() {
        LoopPromise<T> promise = new LoopPromise<>(this);
        registry.register(promise);
        return promise;
    }

    public <T extends @Nullable Object> Promise<T> resolved(T value) {
        return create(
                "resolved",
                () -> {
                    LoopPromise<T> promise = new LoopPromise<>(this);
                    promise.settleResolved(value);
                    return promise;
                });
    }

    public <T extends @Nullable Object> Promise<T> rejected(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        return create(
                "rejected",
                () -> {
                    LoopPromise<T> promise = new LoopPromise<>(this);
                    promise.settleRejected(reason);
                    return promise;
                });
    }

    public <T extends @Nullable Object> Promise<T> from(CompletionStage<? extends T> stage) {
        Objects.requireNonNull(stage, "stage");
        ExternalWork.Stage<T> awaited =
                create(
                        "from",
                        () -> {
                            var added = new ExternalWork.Stage<T>(this.<T>pending());
                            added.register();
                            return added;
                        });
        awaited.await(stage); // It may run callbacks, so no lock is held.
        return awaited.promise;
    }

    public <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, Cancellation cancellation, BlockingWork<? extends T> work) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(cancellation, "cancellation");
        Objects.requireNonNull(work, "work");
        PromisedWork<T> promised =
                create(
                        "promisify",
                        () -> {
                            var added =
                                    new PromisedWork<T>(
                                            this.<T>pending(), work, executor, cancellation);
                            added.register();
                            added.listenForCancellation();
                            return added;
                        });
        promised.start();
        return promised.promise;
    }

    public Promise<@Nullable Void> delay(Duration delay, Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        return create(
                "delay",
                () -> {
                    LoopPromise<@Nullable Void> promise = new LoopPromise<>(this);
                    Timer timer = context.loop().after(delay, t -> promise.settleResolved(null));
                    registry.register(promise);
                    promise.attach((Reaction.Internal) () -> cancel(timer));
                    promise.rejectOn(cancellation);
                    return promise;
                });
    }

    public <T extends @Nullable Object> Promise<List<T>> all(
            Collection<? extends Promise<? extends T>> promises) {
        return combine("all", () -> new Combination.All<>(this, promises));
    }

    public <T extends @Nullable Object> Promise<List<Outcome<T>>> allSettled(
            Collection<? extends Promise<? extends T>> promises) {
        return combine("allSettled", () -> new Combination.AllSettled<>(this, promises));
    }

    public <T extends @Nullable Object> Promise<T> any(
            Collection<? extends Promise<? extends T>> promises) {
        return combine("any", () -> new Combination.Any<>(this, promises));
    }

    public <T extends @Nullable Object> Promise<T> race(
            Collection<? extends Promise<? extends T>> promises) {
        return combine("race", () -> new Combination.Race<>(this, promises));
    }

    private <R extends @Nullable Object> Promise<R> combine(
            String method, Supplier<? extends Combination<?, R>> combination) {
        return create(
                method,
                () -> {
                    Combination<?, R> created = combination.get();
                    registry.register(created);
                    created.start();
                    return created;
                });
    }

    /// Creates a promise that is not derived from another one. Rejected once the loop has begun to
    /// reject pending promises, as it might never terminate otherwise.
    private <R> R create(String method, Supplier<R> body) {
        if (isLoopThread()) {
            requireNotTerminating(method);
            return body.get();
        }
        return runLockedIfOpen(
                method,
                () -> {
                    requireNotTerminating(method);
                    return body.get();
                });
    }

    private void requireNotTerminating(String method) {
        if (termination != null) {
            throw new LoopTerminatedException(
                    context.loop()
                            + " is rejecting its pending promises: "
                            + method
                            + " is too late");
        }
    }

    /// Returns whether the calling thread runs the loop. Also checks that enough stack is left for
    /// a change (E-4): every confined method calls this first.
    boolean isLoopThread() {
        StackReserve.requireLarge();
        return confinement.isHere();
    }

    /// Like [#isLoopThread], but false if the loop is terminated.
    boolean isOpenLoopThread() {
        return isLoopThread() && !stopped;
    }

    /// Changes an existing promise while no thread runs the loop.
    ///
    /// @throws WrongThreadException if a thread runs the loop
    <R> R runLocked(String method, Supplier<R> body) {
        synchronized (lock) {
            context.requireConfined(method);
            return thenRegisterPending(body);
        }
    }

    /// Like [#runLocked], but also requires that the loop is not terminated.
    ///
    /// @throws LoopTerminatedException if it is
    <R> R runLockedIfOpen(String method, Supplier<R> body) {
        synchronized (lock) {
            context.requireOpen(method);
            return thenRegisterPending(body);
        }
    }

    private <R> R thenRegisterPending(Supplier<R> body) {
        try {
            return body.get();
        } finally {
            registerAllPending(); // The next tick may be far away.
        }
    }

    /// Runs the settlement on the loop thread: at once on that thread, otherwise through the
    /// priority lane. Any thread.
    void settleOnLoop(Settlement settlement) {
        if (confinement.isHere()) {
            settlement.run();
        } else {
            // A terminated loop refuses it: it has rejected all its promises.
            context.trySubmitPriority(settlement);
        }
    }

    /// Waits for a thread that is setting up the loop. Called by the new loop thread after
    /// [Confinement] names it, so no other thread can begin a change.
    public void awaitSetup() {
        synchronized (lock) {
            assert confinement.isHere() : "called by another thread than the loop thread";
        }
    }

    /// Any thread.
    Registry.Entry newEntry(LoopPromise<?> promise) {
        return new Registry.Entry(
                promise,
                lastId.incrementAndGet(),
                tracing ? new Throwable("the promise was created here") : null);
    }

    /// Registers recent promises, and queued steps whose source is settled: a barrier that used up
    /// its budget has postponed them.
    private void registerAllPending() {
        registry.registerRecent();
        if (!microtasks.isEmpty()) {
            // Excludes those scanned before: in a flood nearly all of them.
            scannedMicrotasks = microtasks.forEachSince(scannedMicrotasks, this::registerQueued);
        }
    }

    private void registerQueued(Runnable microtask) {
        if (microtask instanceof Step<?, ?> step && step.isPending()) {
            registry.addWithSteps(step);
        }
    }

    /// Called once per tick, before the loop may block.
    public void tidy() {
        registerAllPending();
        registry.scavenge(SLOTS_PER_TICK);
    }

    /// Scans the whole registry after a long wait.
    public void reap() {
        registry.reap();
    }

    void notifySettled(Reaction reaction) {
        if (reaction instanceof Reaction.Internal) {
            reaction.run();
        } else {
            enqueue(reaction);
        }
    }

    void enqueue(Reaction reaction) {
        if (!stopped) {
            microtasks.add(reaction);
        }
    }

    /// Cancels the timer of a settled promise. Not if another thread terminates the loop: a thread
    /// that sets it up may be using the timers, and none will fire.
    void cancel(Timer timer) {
        if (!stopped || confinement.isHere()) {
            timer.cancel();
        }
    }

    public boolean hasExternalWork() {
        return awaited() > 0;
    }

    /// From now on settlements run no handlers.
    public void stopReacting() {
        synchronized (lock) {
            stopped = true;
        }
    }

    /// Runs a settlement that was queued when the loop was closed.
    public void deliver(Settlement settlement) {
        synchronized (lock) {
            settlement.run();
        }
    }

    /// Abandons pending external work. Called by the loop thread, or by the thread that terminates
    /// a loop that no thread runs.
    ///
    /// @return notifications of the workers; they may run user code
    public List<Runnable> abandonExternalWork(LoopTerminatedException reason) {
        List<ExternalWork<?>> abandoned;
        synchronized (lock) {
            setTermination(reason);
            abandoned = externalWork.abandonAll(reason);
        }
        return abandoned.stream()
                .<Runnable>map(work -> () -> work.notifyAbandoned(reason))
                .toList();
    }

    /// Rejects the promises that wait for no other promise of this loop. Their handlers settle the
    /// others.
    ///
    /// @return the number of rejected promises
    public long rejectRoots(LoopTerminatedException reason) {
        synchronized (lock) {
            setTermination(reason);
            return reject(reason, false);
        }
    }

    /// Returns the number of rejected promises.
    public long rejectAll(LoopTerminatedException reason) {
        synchronized (lock) {
            setTermination(reason);
            long rejected = reject(reason, true);
            unhandled.clear();
            registry.clear();
            return rejected;
        }
    }

    private long reject(LoopTerminatedException reason, boolean includeDerived) {
        if (confinement.isHere()) {
            registerAllPending(); // Another thread has registered all, and must not use microtasks.
        }
        List<LoopPromise<?>> pending = registry.pending();
        if (!includeDerived) {
            // Before any is rejected: a combination is derived while one of its sources is pending.
            pending.removeIf(LoopPromise::isDerived);
        }
        long rejected = 0;
        for (LoopPromise<?> promise : pending) {
            if (promise.settleRejected(reason)) {
                rejected++;
            }
        }
        return rejected;
    }

    private void setTermination(LoopTerminatedException reason) {
        termination = reason;
        unhandled.exclude(reason);
    }

    public long live() {
        return registry.live.get();
    }

    public long scavenged() {
        return registry.scavenged.get();
    }

    public long rebuilt() {
        return registry.rebuilt.get();
    }

    public long awaited() {
        return externalWork.count.get();
    }
}
