package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Which thread the loop belongs to just now: the one that runs it, or nobody.
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

    // Shared: written by the loop thread, read by any to tell who that is.
    private volatile @Nullable Thread thread;

    public Confinement(String loopName) {
        this.loopName = loopName;
    }

    /// The thread that runs the loop, or null.
    public @Nullable Thread thread() {
        return thread;
    }

    public void set(@Nullable Thread thread) {
        this.thread = thread;
    }

    /// Whether the calling thread runs the loop.
    ///
    /// A plain read will do: a thread writes only itself or null here, so whoever finds itself has put itself
    /// there and has not left since. Being plain, it does not keep the compiler from merging one look with the next.
    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    public boolean isHere() {
        return (Thread) THREAD.get(this) == Thread.currentThread();
    }

    public boolean isElsewhere() {
        return thread != null && !isHere();
    }

    /// Accepts the loop thread, or any thread while no thread runs the loop. Also checks that
    /// enough stack is left for a change (E-4): every confined method calls this first.
    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    public void require(String method) {
        StackReserve.requireMedium();
        if (isHere()) {
            return;
        }
        Thread owner = thread;
        if (owner != null) {
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
