package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/// Work that [BoundedExecutor] accepted. It begins once, whoever tries: an executor may take it and throw
/// all the same, or run it twice.
final class WorkItem implements Runnable {
    final Runnable work;
    private final BoundedExecutor workers;

    // Shared: its neighbours in the line, guarded by the workers' lock.
    @Nullable WorkItem previous;
    @Nullable WorkItem next;
    @Nullable WorkItem twin;
    @Nullable WorkItem lastTwin;

    // Shared: set once, by whichever thread begins it.
    private final AtomicBoolean begun = new AtomicBoolean();

    // Shared: written by the one thread that hands it over. Any thread that runs it reads, but
    // only to learn whether it is that thread itself, for which no ordering is needed.
    private @Nullable Thread giver;

    // The giver's only.
    private boolean endedInside;

    WorkItem(Runnable work, BoundedExecutor workers) {
        this.work = work;
        this.workers = workers;
    }

    /// Lets one caller begin it.
    ///
    /// @return true to that one
    boolean claim() {
        return begun.compareAndSet(false, true);
    }

    boolean hasBegun() {
        return begun.get();
    }

    /// Whether it ran to its end on the giver's thread before the executor returned. Its place is
    /// the giver's to pass on then: if each job did that itself, a line would be a tower of
    /// calls.
    boolean endedInside() {
        return endedInside;
    }

    void handTo(Executor executor) {
        giver = Thread.currentThread();
        try {
            executor.execute(this);
        } finally {
            // A thread of a pool may well run later what it handed over itself.
            giver = null;
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    public void run() {
        if (!claim()) {
            return;
        }
        boolean inside = giver == Thread.currentThread();
        try {
            work.run();
        } finally {
            if (inside) {
                endedInside = true;
            } else {
                workers.passOn(BoundedExecutor.Refuge.THIS_THREAD);
            }
        }
    }

    /// Not by the work's own words: its toString may fail, or be long.
    @Override
    public String toString() {
        return work.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(work));
    }
}
