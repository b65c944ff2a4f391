package dev.gyre.internal.backend;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/// Interrupts a wait, with at most one signal in flight. Subclasses send the signal.
///
/// `pending` is true from the moment a producer decides to signal until the loop has received the
/// signal. While it is true, other producers return at once: the loop clears it **before** it
/// announces its next sleep and checks the lanes. So it sees whatever a producer enqueued that
/// found `pending` true.
///
/// The lock makes signalling and close exclude each other. Without it a producer that is held up
/// just before its call would signal the descriptor that reuses the number after the close. The
/// lock also guards the memory of the subclass. Only the producer that won `pending` acquires it.
public abstract class Wakeup {
    // Shared: set by any thread, cleared by the loop.
    private final AtomicBoolean pending = new AtomicBoolean();

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private boolean closed;

    // Shared: written under the lock, read by any thread.
    private volatile long sentCount;

    /// The descriptor that is signalled.
    public abstract int fd();

    /// The system call of [#trigger()], for messages.
    protected abstract String call();

    /// Interrupts the current wait, or the next one. Called under the lock.
    ///
    /// @return zero or `-errno`
    protected abstract int trigger();

    /// Closes the descriptor. Called once, under the lock.
    protected abstract void release();

    public final long sentCount() {
        return sentCount;
    }

    /// Makes the current wait return, or the next one. Any thread.
    public final void signal() {
        // The plain read first: a failed exchange would still take the cache line from all others.
        if (pending.get() || pending.getAndSet(true)) {
            return;
        }
        boolean decided = false;
        try {
            synchronized (lock) {
                if (!closed) {
                    send();
                }
            }
            decided = true;
        } finally {
            if (!decided) {
                pending.set(false); // A stack overflow: the next producer has to signal.
            }
        }
    }

    /// Returns whether a signal is in flight, or was reported and not yet [#drained()].
    public final boolean isPending() {
        return pending.get();
    }

    /// Called on the loop thread after the reported signal was drained, before the next sleep is
    /// announced. Until then `pending` stays set, because the kernel reports the signal again.
    public final void drained() {
        pending.set(false);
    }

    public final void close() {
        synchronized (lock) {
            if (!closed) {
                closed = true;
                release();
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever under the lock
    private void send() {
        int errno;
        do {
            errno = -trigger();
        } while (errno == Errno.EINTR);
        if (errno == 0) {
            sentCount++;
            return;
        }
        // EBADF: other code closed a number that it does not own. Treated as the end: the flag
        // stays
        // set. No kernel is known to return another error. The next producer tries again then.
        if (errno != Errno.EBADF) {
            pending.set(false);
        }
        // Logs instead of throwing: the task of the producer is queued and must not appear refused.
        LOG.log(
                Level.ERROR,
                "the loop could not be woken",
                new SystemCallException(call(), errno, fd()));
    }
}
