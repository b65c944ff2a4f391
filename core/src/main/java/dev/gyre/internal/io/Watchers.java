package dev.gyre.internal.io;

import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The loop's watchers: one per descriptor number, in an array indexed by it.
///
/// Watching belongs to the loop thread, but a descriptor may be closed on any, and then its watcher has to
/// go before the number is given back. Hence the lock. It is taken for changes only, each of which costs
/// a system call anyway; dispatch takes none. Order of locks: [FdLifetime], this, the backend's.
public final class Watchers {
    final LoopContext host;
    private final Backend backend;

    // Shared: guarded by this; the counts are also read without.
    private @Nullable LoopWatcher[] byFd = new @Nullable LoopWatcher[64];
    private volatile int size;
    private volatile int referenced;

    // Loop thread only.
    boolean suspended;

    public Watchers(Backend backend, LoopContext host) {
        this.backend = backend;
        this.host = host;
    }

    /// How many descriptors are watched.
    public int size() {
        return size;
    }

    /// How many watchers keep the loop alive: those that are armed and not unreferenced.
    public int referenced() {
        return referenced;
    }

    /// Whether the number is watched. Loop thread only.
    public synchronized boolean isWatched(int fd) {
        return at(fd) != null;
    }

    /// Watches a descriptor, instead of what was watched under its number. Loop thread only.
    public Watcher watch(Descriptor descriptor, WatchSpec watch) {
        OpenDescriptor target = (OpenDescriptor) descriptor;
        LoopWatcher watcher = new LoopWatcher(this, target, watch);
        LoopWatcher replaced;
        synchronized (this) {
            replaced = at(watcher.opening.fd);
        }
        try {
            watcher.opening.attach(watcher);
        } finally {
            // Whether or not the new one was accepted: for the kernel the old one is gone.
            if (replaced != null && !replaced.isIn()) {
                replaced.opening.detach(replaced);
            }
        }
        return watcher;
    }

    /// Forgets whatever watches the descriptor. Loop thread only.
    public void unwatch(Descriptor descriptor) {
        FdLifetime opening = ((OpenDescriptor) descriptor).lifetime();
        LoopWatcher found;
        synchronized (this) {
            found = at(opening.fd);
        }
        // The number may have come to somebody else since.
        if (found != null && found.opening == opening) {
            remove(found);
        }
    }

    /// Stops dispatch for good. Each watcher's descriptor is disarmed at its next event, so that
    /// level-triggered readiness does not keep a draining loop awake. Loop thread only.
    public void suspend() {
        suspended = true;
    }

    /// The loop is over: descriptors need not tell it any more when they close.
    public void close() {
        List<LoopWatcher> left = new ArrayList<>();
        synchronized (this) {
            for (LoopWatcher watcher : byFd) {
                if (watcher != null) {
                    left.add(watcher);
                    take(watcher);
                }
            }
        }
        for (LoopWatcher watcher : left) {
            watcher.opening.detach(watcher);
        }
    }

    // ------------------------------------------------------------------ for LoopWatcher

    /// Called under the lock of the watcher's opening.
    synchronized void register(LoopWatcher watcher, int interest) {
        int fd = watcher.opening.fd;
        if (fd >= byFd.length) { // Before anything changes: memory may be short.
            byFd = Arrays.copyOf(byFd, Math.max(fd + 1, byFd.length * 2));
        }
        LoopWatcher replaced = at(fd);
        if (replaced != null) {
            take(replaced);
        }
        backend.register(fd, interest, watcher);
        byFd[fd] = watcher;
        size = size + 1;
        watcher.setIn(true);
        watcher.armed(interest != 0);
        if (watcher.counts()) {
            referenced = referenced + 1;
        }
    }

    void remove(LoopWatcher watcher) {
        removeFromTable(watcher);
        watcher.opening.detach(watcher);
    }

    /// Any thread, when the descriptor is about to be closed.
    void removeClosed(LoopWatcher watcher) {
        removeFromTable(watcher);
        host.wakeLoop(); // It may have been all that a run was waiting for.
    }

    /// Does nothing if another one has taken its place.
    private synchronized void removeFromTable(LoopWatcher watcher) {
        if (watcher.isIn()) {
            take(watcher);
            backend.deregister(watcher.opening.fd, watcher);
        }
    }

    void modify(LoopWatcher watcher, int interest) {
        try {
            modifyIfThere(watcher, interest);
        } catch (RuntimeException e) {
            remove(watcher);
            throw e;
        }
    }

    private synchronized void modifyIfThere(LoopWatcher watcher, int interest) {
        if (watcher.isIn()) {
            backend.modify(watcher.opening.fd, interest);
        }
    }

    synchronized void setArmed(LoopWatcher watcher, boolean armed) {
        int before = watcher.counts() ? 1 : 0;
        watcher.armed(armed);
        referenced = referenced + (watcher.counts() ? 1 : 0) - before;
    }

    synchronized void setReferenced(LoopWatcher watcher, boolean wanted) {
        int before = watcher.counts() ? 1 : 0;
        watcher.referenced(wanted);
        referenced = referenced + (watcher.counts() ? 1 : 0) - before;
    }

    private @Nullable LoopWatcher at(int fd) {
        return fd < byFd.length ? byFd[fd] : null;
    }

    /// Out of the table and the counts. Under the lock.
    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever under the lock
    private void take(LoopWatcher watcher) {
        assert byFd[watcher.opening.fd] == watcher
                : "W-1: one watcher per fd: " + watcher.opening.fd;
        if (watcher.counts()) {
            referenced = referenced - 1;
        }
        byFd[watcher.opening.fd] = null;
        size = size - 1;
        watcher.setIn(false);
    }
}
