package dev.gyre.internal.promise;

import dev.gyre.AllRejectedException;
import dev.gyre.Deferred;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.TaskRing;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/// The promises of one loop.
///
/// Most promises are settled in the tick that made them. So a new one is only noted, in an array, and those that
/// are still pending at the end of the tick become entries of the [Registry]. The array is short and emptied each
/// tick, so nothing is kept alive by it while the loop waits.
///
/// Loop thread only, without a lock. While no thread runs the loop, one thread may set it up and another may end
/// it: then both hold the lock. A thread that begins to run the loop passes through it once.
public final class Promises {
    /// How many slots of the registry a tick looks at.
    static final int SLOTS_PER_TICK = 20;

    private static final int NEWEST = 256;

    final LoopContext host;
    final Confinement confinement;
    private final TaskRing microtasks;
    public final NewPromises make = new NewPromises(this);
    final ExternalWorkList outstanding = new ExternalWorkList();
    public final UnhandledRejections unhandled = new UnhandledRejections();
    final Registry registry = new Registry();
    private final boolean tracing;

    // Shared: any thread may be the first to ask for a promise's id.
    private final AtomicLong lastId = new AtomicLong();

    private final Object lock = new Object();
    private @Nullable LoopPromise<?>[] newest;
    private int newestCount;

    /// How far the microtasks have been looked through.
    private long lookedThrough;

    /// What those that are pending are rejected with, once the end has come to that.
    private @Nullable LoopTerminatedException end;

    // Loop thread, or with the lock: handlers run no more, and nothing is attached.
    private boolean over;

    public Promises(
            LoopContext host, Confinement confinement, TaskRing microtasks, boolean tracing) {
        this.host = host;
        this.confinement = confinement;
        this.microtasks = microtasks;
        this.tracing = tracing;
        newest = new @Nullable LoopPromise<?>[NEWEST];
    }

    // ------------------------------------------------------------------ making promises

    public <T extends @Nullable Object> Deferred<T> deferred() {
        StackReserve.requireLarge();
        if (confinement.isHere() && end == null) {
            return new LoopDeferred<>(this.<T>pending());
        }
        return confined("deferred", () -> new LoopDeferred<>(this.<T>pending()));
    }

    /// Cancels the timer of a promise that is settled. Not if somebody else ends the loop: the timers may be in the
    /// hands of a thread that sets it up, and none will fire.
    void cancel(Timer timer) {
        if (!over || confinement.isHere()) {
            timer.cancel();
        }
    }

    <T extends @Nullable Object> LoopPromise<T> pending() {
        LoopPromise<T> promise = new LoopPromise<>(this);
        register(promise);
        return promise;
    }

    /// Does what makes a promise that does not come of another: only before the loop rejects what is pending, or
    /// the end might never be reached.
    <R> R confined(String method, Supplier<R> body) {
        StackReserve.requireLarge();
        Supplier<R> checked =
                () -> {
                    requireNotEnding(method);
                    return body.get();
                };
        return confinement.isHere() ? checked.get() : whileOpen(method, checked);
    }

    private void requireNotEnding(String method) {
        if (end != null) {
            throw new LoopTerminatedException(
                    host.loop() + " rejects what is pending: " + method + " comes too late");
        }
    }

    /// Whether this is the loop thread and the loop is not terminated. Checked before a step is
    /// attached, with the stack that needs (E-4).
    boolean isOpenHere() {
        StackReserve.requireLarge();
        return !over && confinement.isHere();
    }

    /// Does what changes a promise that there is already.
    <R> R whileNobodyRuns(String method, Supplier<R> body) {
        StackReserve.requireLarge();
        synchronized (lock) {
            host.requireConfined(method);
            return settlingDown(body);
        }
    }

    /// The same, and only before the loop is over.
    <R> R whileOpen(String method, Supplier<R> body) {
        StackReserve.requireLarge();
        synchronized (lock) {
            host.requireOpen(method);
            return settlingDown(body);
        }
    }

    private <R> R settlingDown(Supplier<R> body) {
        try {
            return body.get();
        } finally {
            settleAllDown(); // There may be no tick for long.
        }
    }

    /// Settles something on the loop thread: at once if this is it, otherwise through the priority lane. Any thread.
    void settleOnLoop(SettlementTask settlement) {
        if (confinement.isHere()) {
            settlement.run();
        } else {
            // Refused if the loop is over: then all its promises have been rejected.
            host.trySubmitPriority(settlement);
        }
    }

    /// Lets the loop thread in, once [Confinement] says who that is: a thread that is setting the loop up is waited for,
    /// and from then on finds the loop taken.
    public void takeOver() {
        synchronized (lock) {
            assert confinement.isHere() : "only for the thread that runs the loop";
        }
    }

    // ------------------------------------------------------------------ keeping track

    boolean isTracing() {
        return tracing;
    }

    /// Any thread.
    RegistryEntry newEntry(LoopPromise<?> promise) {
        return new RegistryEntry(
                promise,
                lastId.incrementAndGet(),
                tracing ? new Throwable("the promise was made here") : null);
    }

    /// Notes a pending promise. On the loop thread, or with the lock.
    void register(LoopPromise<?> promise) {
        if (newestCount == NEWEST) {
            settleDown();
            // While the array is as young as what is put there, the collector is not told: under G1
            // that is a fence for each promise.
            newest = new @Nullable LoopPromise<?>[NEWEST];
        }
        newest[newestCount++] = promise;
    }

    /// Hands those of the newest that are still pending over to the registry, and with each the steps that wait for
    /// it. On the loop thread, or with the lock.
    private void settleDown() {
        for (int i = 0; i < newestCount; i++) {
            LoopPromise<?> promise = newest[i];
            if (promise != null && promise.isPending()) {
                registry.addWithSteps(promise);
            }
            newest[i] = null; // Afterwards: if there was no memory, it is still known.
        }
        newestCount = 0;
    }

    /// The same, and steps whose source is settled and whose turn is still to come: a barrier without budget has put
    /// it off.
    private void settleAllDown() {
        if (newestCount > 0) {
            settleDown();
        }
        if (!microtasks.isEmpty()) {
            // Those of the last look are known, and under a flood that is nearly all of them.
            lookedThrough = microtasks.forEachSince(lookedThrough, this::registerQueued);
        }
    }

    private void registerQueued(Runnable microtask) {
        if (microtask instanceof Step<?, ?> step && step.isPending()) {
            registry.addWithSteps(step);
        }
    }

    /// Once a tick, before the loop may wait.
    public void tidy() {
        settleAllDown();
        registry.scavenge(SLOTS_PER_TICK);
    }

    /// Scans the whole registry after a long wait.
    public void reap() {
        registry.reap();
    }

    void noteSettled(RegistryEntry entry) {
        registry.noteSettled(entry);
    }

    void noteUnhandled(LoopPromise<?> rejected) {
        if (!isTheEnd(rejected.settledValue())) {
            unhandled.add(rejected);
        }
    }

    /// Ensures that `reactions` reactions can be queued without an allocation.
    void ensureCapacity(int reactions) {
        microtasks.ensureCapacity(reactions);
    }

    void trigger(Reaction reaction) {
        if (reaction instanceof InternalReaction) {
            reaction.run();
        } else {
            react(reaction);
        }
    }

    void react(Reaction reaction) {
        if (!over) {
            microtasks.add(reaction);
        }
    }

    // ------------------------------------------------------------------ the end

    /// Whether something outside the loop has been handed over and has not come back.
    public boolean isAwaiting() {
        return outstanding.count.get() > 0;
    }

    /// From now on what settles leads to no handler, as the loop is over.
    public void stopReacting() {
        synchronized (lock) {
            over = true;
        }
    }

    /// Runs a delivery that the end found in the lane.
    public void deliver(SettlementTask delivery) {
        synchronized (lock) {
            delivery.run();
        }
    }

    /// Gives up what is outstanding. Loop thread, or who ends a loop that no thread runs.
    ///
    /// @return for each, what tells whoever is at it; that may run user code
    public List<Runnable> abandonOutstanding(LoopTerminatedException reason) {
        List<ExternalWork<?>> abandoned;
        synchronized (lock) {
            end = reason;
            abandoned = outstanding.abandonAll(reason);
        }
        return abandoned.stream()
                .<Runnable>map(outside -> () -> outside.tellAbandoned(reason))
                .toList();
    }

    /// Rejects what waits for no other promise of this loop. The rest follows, as its handlers see to that.
    ///
    /// @return how many were rejected
    public long rejectRoots(LoopTerminatedException reason) {
        synchronized (lock) {
            end = reason;
            return reject(reason, false);
        }
    }

    /// Rejects everything that is pending.
    ///
    /// @return how many were rejected
    public long rejectAll(LoopTerminatedException reason) {
        synchronized (lock) {
            end = reason;
            long rejected = reject(reason, true);
            unhandled.clear();
            registry.clear();
            return rejected;
        }
    }

    private long reject(LoopTerminatedException reason, boolean derivedToo) {
        if (confinement.isHere()) {
            settleAllDown(); // Otherwise the microtasks are another thread's, and nothing is noted.
        }
        List<LoopPromise<?>> doomed = registry.pending();
        if (!derivedToo) {
            // Before any is rejected: a combination is derived while a source of it is pending.
            doomed.removeIf(LoopPromise::isDerived);
        }
        long rejected = 0;
        for (LoopPromise<?> promise : doomed) {
            if (promise.settleRejected(reason)) {
                rejected++;
            }
        }
        return rejected;
    }

    /// Whether a rejection comes of the loop's end: that is nobody's mistake.
    @SuppressWarnings("ReferenceEquality") // the one that this end made
    private boolean isTheEnd(@Nullable Object reason) {
        if (reason instanceof AllRejectedException all) {
            return all.reasons().stream().anyMatch(this::isTheEnd); // That one was the last hope.
        }
        return reason != null && reason == end;
    }

    // ------------------------------------------------------------------ looking

    /// The promise of that id, if it is registered. Loop thread.
    @Nullable LoopPromise<?> find(long id) {
        return registry.find(id);
    }

    int registryCapacity() {
        return registry.capacity();
    }

    /// Any thread, as the following.
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
        return outstanding.count.get();
    }
}
