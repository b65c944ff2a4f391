package dev.gyre.internal.group;

import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.base.WorkThreads;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.ThreadAffinity;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntBinaryOperator;

/// Runs every loop on a platform thread of its own.
final class ThreadHost implements LoopHost {
    private final IntBinaryOperator affinity;
    private final AtomicBoolean pinRefused = new AtomicBoolean();

    ThreadHost() {
        this(ThreadAffinity::restrictToOne);
    }

    /// @param affinity see [ThreadAffinity#restrictToOne]
    ThreadHost(IntBinaryOperator affinity) {
        this.affinity = affinity;
    }

    private final class LoopThread extends Thread {
        private final Group group;
        private final int index;

        LoopThread(Group group, int index) {
            super(group.loop(index).config().name());
            this.group = group;
            this.index = index;
            setDaemon(false); // The status is inherited, but loop threads must keep the JVM alive.
        }

        @Override
        public void run() {
            try {
                if (group.config().cpuAffinity()) {
                    WorkThreads.onStart(ThreadAffinity::release);
                    pin(index, group.size());
                } else {
                    WorkThreads.started(); // A loop thread may have started this one.
                }
            } finally { // Also if the logger throws: the group waits for this thread.
                runLoops(group, index);
            }
        }
    }

    /// Runs a loop, and those that replace it, to the end.
    static void runLoops(Group group, int index) {
        try {
            boolean again;
            do {
                again = runLoop(group, index);
            } while (again);
        } finally {
            group.exited();
        }
    }

    private static boolean runLoop(Group group, int index) {
        Loop loop = group.loop(index);
        try {
            loop.run();
        } catch (Throwable e) {
            if (!(e instanceof LoopTerminatedException) || !loop.isShuttingDown()) {
                return group.loopFailed(index, e);
            }
            boolean _ = group.loopStopped(loop);
            return false; // Closed before this run.
        }
        return group.loopStopped(loop);
    }

    private void pin(int index, int threads) {
        String problem = "";
        try {
            int processor = affinity.applyAsInt(index, threads);
            if (processor < 0) {
                problem = Errno.name(-processor);
            }
        } catch (Throwable e) { // Such as an OutOfMemoryError, or a missing symbol.
            problem = e.toString();
        }
        if (!problem.isEmpty() && !pinRefused.getAndSet(true)) {
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    "cannot pin loop threads to CPUs ("
                            + problem
                            + "): they run unpinned. Permit sched_getaffinity and"
                            + " sched_setaffinity, or set LoopGroupConfig.withCpuAffinity(false)");
        }
    }

    @Override
    public Loop open(int index, LoopConfig config) {
        return Loop.open(config);
    }

    @Override
    public void start(Group group, int index) {
        new LoopThread(group, index).start();
    }

    @Override
    public boolean isThreadOf(Group group) {
        return Thread.currentThread() instanceof LoopThread thread && thread.group.equals(group);
    }
}
