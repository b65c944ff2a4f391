package dev.gyre.internal.promise;

import dev.gyre.BlockingWork;
import dev.gyre.BoundedExecutor;
import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.internal.base.QueueingExecutor;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/// Blocking work on another thread: clause P-2.
///
/// Only the loop thread settles the promise: with the result, a cancellation, or the termination of
/// the loop, whichever arrives first. The thread that abandons the work interrupts the worker, but
/// never a worker that has moved on to other work. A worker in phase INTERRUPTING waits until the
/// interrupt has arrived, and clears it.
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

    // Shared: changed by the worker and by the thread that abandons the work.
    private final AtomicInteger phase = new AtomicInteger(WAITING);

    // Shared: written by the worker before it enters RUNNING, read by the thread that leaves it.
    private @Nullable Thread worker;

    PromisedWork(
            LoopPromise<T> promise,
            BlockingWork<? extends T> work,
            Executor executor,
            Cancellation cancellation) {
        super(promise);
        this.work = work;
        this.executor = executor;
        this.cancellation = cancellation;
        abandonment = CancellationSource.linkedTo(cancellation);
    }

    /// Loop thread, before [#start()].
    void listenForCancellation() {
        registration = cancellation.onCancel(this::cancelled);
        if (!promise.isPending()) {
            registration.close();
        }
    }

    /// Submits the work to the executor. Loop thread.
    void start() {
        if (phase.get() == DONE) {
            return; // Cancelled already.
        }
        try {
            executor.execute(this);
            if (phase.get() == DONE) {
                leaveQueue(); // Abandoned before it was queued.
            }
        } catch (Throwable refused) {
            // If the executor runs it nevertheless, the worker sets the phase.
            phase.compareAndSet(WAITING, DONE);
            deliverRejected(refused);
            if (refused instanceof VirtualMachineError fatal) {
                throw fatal;
            }
        }
    }

    /// Worker thread.
    @Override
    public void run() {
        worker = Thread.currentThread();
        if (!phase.compareAndSet(WAITING, RUNNING)) {
            return; // Abandoned before it began.
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
                // Not our interrupt: the owner of the thread must see it.
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

    /// Any thread.
    private void cancelled() {
        // First: an exception of the interrupted work must arrive later.
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
            abandonment.cancel(reason); // First: interrupted work must find the reason.
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

    /// Prevents the work from starting, or interrupts it. Any thread.
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
        switch (executor) {
            case BoundedExecutor bounded -> bounded.remove(this);
            case QueueingExecutor.Waiting waiting -> waiting.remove(this);
            default -> {}
        }
    }
}
