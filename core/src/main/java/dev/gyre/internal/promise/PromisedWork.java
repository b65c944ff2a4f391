package dev.gyre.internal.promise;

import dev.gyre.BlockingWork;
import dev.gyre.BoundedExecutor;
import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/// Blocking work on its way through another thread: clause P-2.
///
/// The promise is settled by the loop thread alone, by whatever reaches it first: the result, a cancellation, or
/// the loop's end. Whoever gives the work up interrupts its thread, but never a thread that has gone on to
/// something else: a worker that finds itself being interrupted waits until that is done, and clears it.
final class PromisedWork<T extends @Nullable Object> extends ExternalWork<T> implements Runnable {
    private static final int WAITING = 0;
    private static final int RUNNING = 1;
    private static final int INTERRUPTING = 2;
    private static final int INTERRUPTED = 3;
    private static final int DONE = 4;

    private final BlockingWork<? extends T> work;
    private final Executor executor;
    private final CancellationSource abandonment;
    private final Cancellation cancellation;
    private Cancellation.@Nullable Registration registration;

    // Shared: moved by the worker and by whoever gives the work up.
    private final AtomicInteger phase = new AtomicInteger(WAITING);

    // Shared: written by the worker before it moves to RUNNING, read by who moves on from there.
    private @Nullable Thread worker;

    PromisedWork(
            LoopPromise<T> promise,
            BlockingWork<? extends T> work,
            Executor executor,
            Cancellation requested) {
        super(promise);
        this.work = work;
        this.executor = executor;
        this.cancellation = requested;
        abandonment = CancellationSource.linkedTo(requested);
    }

    /// Hears of a cancellation. Loop thread, before [#start()].
    void listenForCancellation() {
        registration = cancellation.onCancel(this::cancelled);
        if (!promise.isPending()) {
            registration.close();
        }
    }

    /// Hands the work over. Loop thread.
    void start() {
        if (phase.get() == DONE) {
            return; // Cancelled already.
        }
        try {
            executor.execute(this);
            if (phase.get() == DONE) {
                leaveQueue(); // Given up before it was in there to be found.
            }
        } catch (Throwable refused) {
            // Whoever has begun it all the same moves it on.
            phase.compareAndSet(WAITING, DONE);
            deliverRejected(refused);
            if (refused instanceof VirtualMachineError fatal) {
                throw fatal;
            }
        }
    }

    // ------------------------------------------------------------------ on the worker

    @Override
    public void run() {
        worker = Thread.currentThread();
        if (!phase.compareAndSet(WAITING, RUNNING)) {
            return; // Given up before it began.
        }
        try {
            T value = work.run(abandonment.cancellation());
            finish(null);
            deliverResolved(value);
        } catch (Throwable thrown) {
            finish(thrown);
            deliverRejected(thrown);
        }
    }

    @SuppressWarnings({"Interruption", "ThreadPriorityCheck"})
    private void finish(@Nullable Throwable thrown) {
        if (phase.compareAndSet(RUNNING, DONE)) {
            if (thrown instanceof InterruptedException) {
                // Somebody else's interrupt: the owner of the thread is to see it.
                Thread.currentThread().interrupt();
            }
            return;
        }
        while (phase.get() == INTERRUPTING) {
            Thread.yield();
        }
        if (phase.compareAndSet(INTERRUPTED, DONE)) {
            Thread.interrupted(); // It was meant for this work only.
        }
    }

    // ------------------------------------------------------------------ giving it up

    /// Any thread.
    private void cancelled() {
        // First, so that what interrupted work throws comes too late.
        deliverRejected(Objects.requireNonNull(cancellation.reason()));
        skipOrInterrupt();
    }

    @Override
    void abandon(Throwable reason) {
        skip();
        promise.settleRejected(reason);
    }

    @Override
    void notifyAbandoned(Throwable reason) {
        try {
            abandonment.cancel(reason); // First, so that work that is interrupted finds out why.
        } finally {
            skipOrInterrupt();
        }
    }

    @Override
    void onSettled() {
        if (registration != null) {
            registration.close();
        }
    }

    /// Keeps it from beginning, or interrupts it. Any thread.
    private void skipOrInterrupt() {
        if (!skip() && phase.compareAndSet(RUNNING, INTERRUPTING)) {
            Thread interrupted = worker;
            assert interrupted != null : "set before RUNNING";
            interrupted.interrupt();
            phase.set(INTERRUPTED);
        }
    }

    private boolean skip() {
        if (!phase.compareAndSet(WAITING, DONE)) {
            return false;
        }
        leaveQueue();
        return true;
    }

    private void leaveQueue() {
        if (executor instanceof BoundedExecutor workers) {
            workers.remove(this);
        }
    }
}
