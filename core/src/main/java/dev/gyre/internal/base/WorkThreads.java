package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/// Threads for work beside the loops. They inherit nothing from the thread that starts them, which
/// is arbitrary.
public final class WorkThreads {
    // Shared: written if loop threads are restricted to processors, which new threads inherit.
    private static volatile @Nullable Runnable onStart;

    private WorkThreads() {}

    /// Makes all later threads run the action first.
    public static void onStart(Runnable action) {
        onStart = action;
    }

    /// Runs the action of [#onStart] on the calling thread.
    public static void started() {
        Runnable action = onStart;
        if (action != null) {
            action.run();
        }
    }

    /// Returns a factory of daemon threads.
    ///
    /// @param name of the threads, which are numbered
    static ThreadFactory platformFactory(String name) {
        ThreadFactory factory =
                Thread.ofPlatform()
                        .name(name + "-", 1)
                        .daemon(true)
                        .inheritInheritableThreadLocals(false)
                        .factory();
        return work -> factory.newThread(() -> run(work));
    }

    /// Returns an executor that runs each work on a new virtual thread.
    ///
    /// @param prefix of the names of the threads, which are numbered
    public static Executor virtual(String prefix) {
        ThreadFactory factory =
                Thread.ofVirtual().name(prefix, 1).inheritInheritableThreadLocals(false).factory();
        return work -> {
            // The carrier may be a thread that a loop thread has started.
            Runnable run = onStart == null ? work : () -> run(work);
            factory.newThread(run).start();
        };
    }

    private static void run(Runnable work) {
        try {
            started();
        } finally { // Accepted work must run.
            work.run();
        }
    }
}
