package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

/// Which thread the loop belongs to just now: the one that runs it, or nobody.
final class Confinement {
    private final String loopName;

    // Shared: written by the loop thread, read by any to tell who that is.
    private volatile @Nullable Thread thread;

    Confinement(String loopName) {
        this.loopName = loopName;
    }

    /// The thread that runs the loop, or null.
    @Nullable Thread thread() {
        return thread;
    }

    void set(@Nullable Thread thread) {
        this.thread = thread;
    }

    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    boolean isHere() {
        return thread == Thread.currentThread();
    }

    boolean isElsewhere() {
        return thread != null && !isHere();
    }

    /// Lets the loop thread pass, and anyone while no thread runs the loop.
    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    void require(String method) {
        Thread owner = thread;
        if (owner != null && owner != Thread.currentThread()) {
            throw new WrongThreadException(
                    method
                            + " belongs to the thread of loop "
                            + loopName
                            + ", "
                            + owner
                            + ", but was called on "
                            + Thread.currentThread()
                            + ": hand it over with submit");
        }
    }
}
