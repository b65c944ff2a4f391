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

/// The watchers of a loop: one per fd, in an array indexed by it.
///
/// Only the loop thread watches, but any thread may close a descriptor, which removes its watcher
/// before the fd is freed. Hence the lock. Only changes acquire it, and each costs a system call
/// anyway; dispatch does not. Order of locks: [FdLifetime], this, the backend's.
public final class Watchers {
    final LoopContext context;
    private final Backend backend;

    // Shared: guarded by this. The counts are also read without the lock.
    private @Nullable LoopWatcher[] byFd = new @Nullable LoopWatcher[64];
    private volatile int size;
    private volatile int referenced;

    // Loop thread only.
    boolean suspended;

    public Watchers(Backend backend, LoopContext context) {
        this.backend = backend;
        this.context = context;
    }

    public int size() {
        return size;
    }

    /// Returns the number of watchers that keep the loop alive: armed and referenced.
    public int referenced() {
        return referenced;
    }

    /// Returns whether the fd is watched. Loop thread only.
    public synchronized boolean isWatched(int fd) {
        return at(fd) != null;
    }

    /// Watches a descriptor. Replaces the watcher of its fd. Loop thread only.
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
            // The kernel has forgotten the old one, even if it refused the new one.
            if (replaced != null && !replaced.registered) {
                replaced.lifetime.detach(replaced);
            }
        }
        return watcher;
    }

    /// Removes the watcher of the descriptor. Loop thread only.
    public void unwatch(Descriptor descriptor) {
        FdLifetime lifetime = ((OpenDescriptor) descriptor).lifetime();
        LoopWatcher found;
        synchronized (this) {
            found = at(lifetime.fd);
        }
        // Another descriptor may have the fd by now.
        if (found != null && found.lifetime == lifetime) {
            remove(found);
        }
    }

    /// Stops dispatch for good. Each watcher's descriptor is disarmed at its next event, so that
    /// level-triggered readiness does not keep a draining loop awake. Loop thread only.
    public void suspend() {
        suspended = true;
    }

    /// Detaches all watchers from their descriptors, when the loop terminates.
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

    /// Registers a watcher with the backend. Called under the lock of its [FdLifetime].
    synchronized void register(LoopWatcher watcher, int interest) {
        int fd = watcher.lifetime.fd;
        if (fd >= byFd.length) { // First: the allocation may fail.
            byFd = Arrays.copyOf(byFd, Math.max(fd + 1, byFd.length * 2));
        }
        LoopWatcher replaced = at(fd);
        if (replaced != null) {
            unlink(replaced);
        }
        backend.register(fd, interest, watcher);
        byFd[fd] = watcher;
        size = size + 1;
        watcher.registered = true;
        watcher.armed = interest != 0;
        if (watcher.keepsLoopAlive()) {
            referenced = referenced + 1;
        }
    }

    void remove(LoopWatcher watcher) {
        removeFromTable(watcher);
        watcher.lifetime.detach(watcher);
    }

    /// Removes the watcher of a descriptor that is being closed. Any thread.
    void removeClosed(LoopWatcher watcher) {
        removeFromTable(watcher);
        context.wakeLoop(); // It may have been the last that kept a run alive.
    }

    /// Does nothing if it was replaced.
    private synchronized void removeFromTable(LoopWatcher watcher) {
        if (watcher.registered) {
            unlink(watcher);
            backend.deregister(watcher.lifetime.fd, watcher);
        }
    }

    void modify(LoopWatcher watcher, int interest) {
        try {
            synchronized (this) {
                if (watcher.registered) {
                    backend.modify(watcher.lifetime.fd, interest);
                }
            }
        } catch (RuntimeException e) {
            remove(watcher);
            throw e;
        }
    }

    synchronized void setArmed(LoopWatcher watcher, boolean armed) {
        int before = watcher.keepsLoopAlive() ? 1 : 0;
        watcher.armed = armed;
        referenced = referenced + (watcher.keepsLoopAlive() ? 1 : 0) - before;
    }

    synchronized void setReferenced(LoopWatcher watcher, boolean wanted) {
        int before = watcher.keepsLoopAlive() ? 1 : 0;
        watcher.referenced = wanted;
        referenced = referenced + (watcher.keepsLoopAlive() ? 1 : 0) - before;
    }

    private @Nullable LoopWatcher at(int fd) {
        return fd < byFd.length ? byFd[fd] : null;
    }

    /// Removes a watcher from the table and the counts. Called under the lock.
    @SuppressWarnings("NonAtomicVolatileUpdate") // Guarded by this.
    private void unlink(LoopWatcher watcher) {
        assert byFd[watcher.lifetime.fd] == watcher
                : "W-1: one watcher per fd: " + watcher.lifetime.fd;
        if (watcher.keepsLoopAlive()) {
            referenced = referenced - 1;
        }
        byFd[watcher.lifetime.fd] = null;
        size = size - 1;
        watcher.registered = false;
    }
}
