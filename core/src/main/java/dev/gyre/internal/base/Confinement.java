package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The thread that runs the loop, and the check that confined methods make.
public final class Confinement {
    private static final VarHandle THREAD;

    static {
        try {
            THREAD =
                    MethodHandles.lookup().findVarHandle(Confinement.class, "thread", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String loopName;

    // Shared: written by the loop thread, read by any thread. Null while no thread runs the loop.
    private volatile @Nullable Thread thread;

    public Confinement(String loopName) {
        this.loopName = loopName;
    }

    public @Nullable Thread thread() {
        return thread;
    }

    public void set(@Nullable Thread thread) {
        this.thread = thread;
    }

    /// Returns whether the calling thread runs the loop.
    ///
    /// A plain read suffices: a thread writes only itself or null, so a thread that reads itself
    /// has written that value and not left since. The compiler may merge plain reads.
    @SuppressWarnings("ReferenceEquality") // identity of threads
    public boolean isHere() {
        return (Thread) THREAD.get(this) == Thread.currentThread();
    }

    public boolean isElsewhere() {
        return thread != null && !isHere();
    }

    /// Accepts the loop thread, or any thread while no thread runs the loop. Also checks that
    /// enough stack is left for a change (E-4): every confined method calls this first.
    @SuppressWarnings("ReferenceEquality") // identity of threads
    public void require(String method) {
        StackReserve.requireMedium();
        if (isHere()) {
            return;
        }
        Thread owner = thread;
        if (owner != null) {
            throw new WrongThreadException(
                    method
                            + " is confined to the thread of loop "
                            + loopName
                            + ", "
                            + owner
                            + ", but was called on "
                            + Thread.currentThread()
                            + ": call it in a task passed to submit");
        }
    }
}
