package dev.gyre.internal.group;

import dev.gyre.LoopFailure;
import dev.gyre.LoopGroupConfig.FailureAction;
import dev.gyre.internal.base.DeferredLog;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.loop.Loop;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// Handles the failures of a group's loops, and records them for the report.
///
/// Any thread.
final class LoopFailures {
    /// Failures of one loop within [#PERIOD] that end the group.
    private static final int MAX_FAILURES = 6;

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    private final Group group;
    private final LoopSlots loops;
    private final boolean threaded;

    // Shared: guarded by this.
    private final List<LoopFailure> all = new ArrayList<>();
    private final List<Deque<Long>> times = new ArrayList<>();

    LoopFailures(Group group, LoopSlots loops, boolean threaded) {
        this.threaded = threaded;
        this.group = group;
        this.loops = loops;
        for (int i = 0; i < loops.size(); i++) {
            times.add(new ArrayDeque<>());
        }
    }

    synchronized List<LoopFailure> all() {
        return List.copyOf(all);
    }

    /// See [Group#loopFailed].
    boolean loopFailed(int index, Throwable cause) {
        Loop failed = loops.get(index);
        long connections = failed.metrics().streams();
        List<Runnable> logEntries = new ArrayList<>();
        String next = "closing the group: cannot open a replacement (see suppressed exception)";
        boolean replaced = false;
        try {
            long now = failed.nanoTime();
            DeferredLog.postponed(logEntries, failed::close);
            if (!group.isRunning()) {
                next = "the group is shutting down";
            } else if (group.config().failureAction() == FailureAction.CLOSE_GROUP) {
                next = "closing the group";
            } else if (isFrequent(index, now)) {
                next = "closing the group: the loop failed " + MAX_FAILURES + " times within 60 s";
            } else if (replace(index)) {
                next = "a new loop replaces it";
                replaced = true;
            }
        } catch (Throwable e) { // Such as an OutOfMemoryError, or one of a value's factory.
            Throwable _ = Throwables.firstOf(cause, e);
        }
        LoopFailure failure = new LoopFailure(failed.config().name(), cause, connections, replaced);
        synchronized (this) {
            all.add(failure);
        }
        if (!replaced && group.isRunning()) {
            group.beginClose();
        }
        String consequence = next;
        logEntries.add(() -> log(failure, consequence));
        write(logEntries, cause);
        return replaced;
    }

    /// Writes log entries on another thread, so that the loop's thread runs the new loop at once.
    /// The end of the group waits for them.
    private void write(List<Runnable> entries, Throwable cause) {
        Runnable writing = () -> entries.forEach(entry -> write(entry, cause));
        if (!threaded) {
            writing.run();
            return;
        }
        group.beginTask();
        Runnable task =
                () -> {
                    try {
                        writing.run();
                    } finally {
                        group.endTask();
                    }
                };
        try {
            Thread.ofPlatform().name("gyre-failure-log").daemon(true).start(task);
        } catch (OutOfMemoryError e) { // No thread can be started.
            task.run();
        }
    }

    private static void write(Runnable entry, Throwable cause) {
        try {
            entry.run();
        } catch (Throwable e) { // The report has it. The new loop must run.
            Throwable _ = Throwables.firstOf(cause, e);
        }
    }

    private static void log(LoopFailure failure, String next) {
        Log.LOG.log(
                System.Logger.Level.ERROR,
                "loop %s failed with %d open connections, which were reset; %s"
                        .formatted(failure.loop(), failure.connections(), next),
                failure.cause());
    }

    /// Notes a failure, and returns whether the loops at that index fail too often.
    private synchronized boolean isFrequent(int index, long now) {
        Deque<Long> recent = times.get(index);
        recent.add(now);
        while (now - recent.getFirst() > PERIOD) {
            recent.removeFirst();
        }
        return recent.size() >= MAX_FAILURES;
    }

    private boolean replace(int index) {
        Loop loop = loops.open(index);
        boolean complete = false;
        try {
            if (group.tryReplace(loop)) {
                loops.createValues(loop);
                complete = true;
            }
            return complete;
        } finally {
            if (!complete) {
                loop.close();
            }
        }
    }
}
