package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.IdentityHashMap;

/// The jobs that wait, first come, first served. All methods take constant time: a loop may cancel
/// thousands of them at once, on its own thread and in any order.
///
/// The same work may wait several times. Its jobs are chained as twins, and both ways out take
/// the oldest of them, so that the map needs to know no other. Works are told apart by identity:
/// equals is foreign code, which must not run under a lock.
///
/// Guarded by the lock of its owner. Only [#add] allocates, before it changes anything.
final class WorkQueue {
    private static final int KEPT = 1_024;

    private IdentityHashMap<Runnable, WorkItem> oldest = new IdentityHashMap<>();
    private @Nullable WorkItem head;
    private @Nullable WorkItem tail;
    private int size;
    private int peak;

    int size() {
        return size;
    }

    void add(WorkItem job) {
        if (size == 0 && peak > KEPT) {
            // The map never shrinks by itself.
            oldest = new IdentityHashMap<>();
            peak = 0;
        }
        WorkItem first = oldest.putIfAbsent(job.work, job);
        if (first == null) {
            job.lastTwin = job;
        } else {
            assert first.lastTwin != null : "the oldest of its twins knows the youngest";
            first.lastTwin.twin = job;
            first.lastTwin = job;
        }
        job.previous = tail;
        if (tail == null) {
            head = job;
        } else {
            tail.next = job;
        }
        tail = job;
        size++;
        peak = Math.max(peak, size);
    }

    /// Takes out the one that has waited longest.
    @Nullable WorkItem take() {
        WorkItem job = head;
        if (job != null) {
            leave(job);
        }
        return job;
    }

    boolean remove(Runnable work) {
        WorkItem job = oldest.get(work);
        if (job == null) {
            return false;
        }
        leave(job);
        return true;
    }

    private void leave(WorkItem job) {
        WorkItem twin = job.twin;
        if (twin == null) {
            oldest.remove(job.work);
        } else {
            twin.lastTwin = job.lastTwin;
            oldest.put(job.work, twin);
        }
        WorkItem before = job.previous;
        WorkItem after = job.next;
        if (before == null) {
            head = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            tail = before;
        } else {
            after.previous = before;
        }
        job.previous = null;
        job.next = null;
        job.twin = null;
        job.lastTwin = null;
        size--;
    }
}
