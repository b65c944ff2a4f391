package dev.gyre.internal.io;

import static dev.gyre.internal.base.Log.LOG;

import java.lang.System.Logger.Level;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Closes descriptors that became unreachable while open, and removes their watchers. The fd of a
/// borrowed descriptor stays open.
///
/// It has no thread. Every opening of a descriptor reclaims first, because fds may be exhausted,
/// and every loop reclaims once per tick, at the cost of reading one field.
public final class FdReaper {
    private static final ReferenceQueue<OpenDescriptor> UNREACHABLE = new ReferenceQueue<>();

    /// Keeps the references reachable: unreachable ones are never enqueued.
    private static final Set<Handle> TRACKED = ConcurrentHashMap.newKeySet();

    private FdReaper() {}

    /// Closes the lifetime of an unreachable descriptor.
    static final class Handle extends PhantomReference<OpenDescriptor> {
        private final FdLifetime lifetime;

        Handle(OpenDescriptor descriptor, FdLifetime lifetime) {
            super(descriptor, UNREACHABLE);
            this.lifetime = lifetime;
        }

        /// Called when the lifetime is closed.
        void untrack() {
            TRACKED.remove(this);
            clear();
        }
    }

    static void track(OpenDescriptor descriptor, FdLifetime lifetime) {
        Handle handle = new Handle(descriptor, lifetime);
        lifetime.setHandle(handle);
        TRACKED.add(handle);
    }

    /// Closes the unreachable descriptors. Any thread.
    public static void reclaim() {
        for (Object found = UNREACHABLE.poll(); found != null; found = UNREACHABLE.poll()) {
            FdLifetime lifetime = ((Handle) found).lifetime;
            if (lifetime.isWatched()) {
                LOG.log(
                        Level.WARNING,
                        "{0} became unreachable while watched and is closed: a watcher does not"
                                + " keep its descriptor reachable, so keep a reference to it",
                        lifetime);
            } else {
                LOG.log(Level.DEBUG, "{0} became unreachable while open and is closed", lifetime);
            }
            lifetime.close();
        }
    }
}
