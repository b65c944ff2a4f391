package dev.gyre.internal.io;

import static dev.gyre.internal.base.Log.LOG;

import java.lang.System.Logger.Level;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Closes descriptors that became unreachable without being closed, and so ends their watchers. The number
/// of one that was only borrowed stays open.
///
/// There is no thread for it. Whoever opens a descriptor looks first whether some can be given back, which
/// is just when numbers matter, and every loop looks once a tick: a read of one field.
public final class FdReaper {
    private static final ReferenceQueue<OpenDescriptor> UNREACHABLE = new ReferenceQueue<>();

    /// References have to be reachable themselves, or they are never queued.
    private static final Set<Handle> TRACKED = ConcurrentHashMap.newKeySet();

    private FdReaper() {}

    /// What is left of a descriptor when nobody can reach it.
    static final class Handle extends PhantomReference<OpenDescriptor> {
        private final FdLifetime opening;

        Handle(OpenDescriptor descriptor, FdLifetime opening) {
            super(descriptor, UNREACHABLE);
            this.opening = opening;
        }

        /// Called when the opening is closed by whatever way.
        void untrack() {
            TRACKED.remove(this);
            clear();
        }
    }

    static void track(OpenDescriptor descriptor, FdLifetime opening) {
        Handle handle = new Handle(descriptor, opening);
        opening.setHandle(handle);
        TRACKED.add(handle);
    }

    /// Closes what is unreachable by now. Any thread.
    public static void reclaim() {
        for (Object found = UNREACHABLE.poll(); found != null; found = UNREACHABLE.poll()) {
            FdLifetime opening = ((Handle) found).opening;
            if (opening.isWatched()) {
                LOG.log(
                        Level.WARNING,
                        "{0} became unreachable while it was watched, and is closed now: a watcher"
                            + " does not keep its descriptor, so hold it for as long as it matters",
                        opening);
            } else {
                LOG.log(Level.DEBUG, "{0} became unreachable while open, and is closed", opening);
            }
            opening.close();
        }
    }
}
