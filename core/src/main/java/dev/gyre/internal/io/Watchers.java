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
    final LoopContext context;
    private final Backend backend;

    // Shared: guarded by this; the counts are also read without.
    private @Nullable LoopWatcher[] byFd = new @Nullable LoopWatcher[64];
    private volatile int size;
    private volatile int referenced;

    public Watchers(Backend backend, LoopContext host) {
        this.backend = backend;
        this.context = host;
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
            replaced = at(watcher.lifetime.fd);
        }
        try {
            watcher.lifetime.attach(watcher);
        } finally {
            // Whether or not the new one was accepted: for the kernel the old one is gone.
            if (replaced != null && !replaced.isRegistered()) {
                replaced.lifetime.detach(replaced);
            }
        }
        return watcher;
    }

    /// Forgets whatever watches the descriptor. Loop thread only.
    public void unwatch(Descriptor descriptor) {
        FdLifetime lifetime = ((OpenDescriptor) descriptor).lifetime();
        LoopWatcher found;
        synchronized (this) {
            found = at(lifetime.fd);
        }
        // The number may have come to somebody else since.
        if (found != null && found.lifetime == lifetime) {
            remove(found);
        }
    }

    /// The loop is over: descriptors need not tell it any more when they close.
    public void close() {
        List<LoopWatcher> left = new ArrayList<>();
        synchronized (this) {
            for (LoopWatcher watcher : byFd) {
                if (watcher != null) {
                    left.add(watcher);
                    unlink(watcher);
                }
            }
        }
        for (LoopWatcher watcher : left) {
            watcher.lifetime.detach(watcher);
        }
    }

    // ------------------------------------------------------------------ for LoopWatcher

    /// Called under the lock of the watcher's lifetime.
    synchronized void register(LoopWatcher watcher, int interest) {
        int fd = watcher.lifetime.fd;
        if (fd >= byFd.length) { // Before anything changes: memory may be short.
            byFd = Arrays.copyOf(byFd, Math.max(fd + 1, byFd.length * 2));
        }
        LoopWatcher replaced = at(fd);
        if (replaced != null) {
            unlink(replaced);
        }
        backend.register(fd, interest, watcher);
        byFd[fd] = watcher;
        size = size + 1;
        watcher.setRegistered(true);
        watcher.armed(interest != 0);
        if (watcher.keepsLoopAlive()) {
            referenced = referenced + 1;
        }
    }

    void remove(LoopWatcher watcher) {
        removeFromTable(watcher);
        watcher.lifetime.detach(watcher);
    }

    /// Any thread, when the descriptor is about to be closed.
    void removeClosed(LoopWatcher watcher) {
        removeFromTable(watcher);
        context.wakeLoop(); // It may have been all that a run was waiting for.
    }

    /// Does nothing if another one has taken its place.
    private synchronized void removeFromTable(LoopWatcher watcher) {
        if (watcher.isRegistered()) {
            unlink(watcher);
            backend.deregister(watcher.lifetime.fd, watcher);
        }
    }

    void modify(LoopWatcher watcher, int interest) {
        try {
            modifyIfRegistered(watcher, interest);
        } catch (RuntimeException e) {
            remove(watcher);
            throw e;
        }
    }

    private synchronized void modifyIfRegistered(LoopWatcher watcher, int interest) {
        if (watcher.isRegistered()) {
            backend.modify(watcher.lifetime.fd, interest);
        }
    }

    synchronized void setArmed(LoopWatcher watcher, boolean armed) {
        int before = watcher.keepsLoopAlive() ? 1 : 0;
        watcher.armed(armed);
        referenced = referenced + (watcher.keepsLoopAlive() ? 1 : 0) - before;
    }

    synchronized void setReferenced(LoopWatcher watcher, boolean wanted) {
        int before = watcher.keepsLoopAlive() ? 1 : 0;
        watcher.referenced(wanted);
        referenced = referenced + (watcher.keepsLoopAlive() ? 1 : 0) - before;
    }

    private @Nullable LoopWatcher at(int fd) {
        return fd < byFd.length ? byFd[fd] : null;
    }

    /// Out of the table and the counts. Under the lock.
    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever under the lock
    private void unlink(LoopWatcher watcher) {
        assert byFd[watcher.lifetime.fd] == watcher
                : "W-1: one watcher per fd: " + watcher.lifetime.fd;
        if (watcher.keepsLoopAlive()) {
            referenced = referenced - 1;
        }
        byFd[watcher.lifetime.fd] = null;
        size = size - 1;
        watcher.setRegistered(false);
    }
}
