package dev.gyre.internal.backend;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/// Interrupts a wait, with at most one signal on its way. The [Wakeup] is the kernel's side of
/// it.
///
/// `pending` is true from the moment a producer decides to ring until the loop has heard it. While it is
/// true every other producer can go home: the loop clears it **before** it announces its next
/// sleep and looks at the lanes, so whatever was enqueued by someone who found it true will be
/// seen.
///
/// The lock makes ringing and close exclude each other. Without it a producer could be held up
/// just before its call, and ring at whatever descriptor got the number after the close. It also
/// guards the bell's memory and is taken only by the one producer that won `pending`.
public final class WakeSignal {
    // Shared: set by any thread, cleared by the loop.
    private final AtomicBoolean pending = new AtomicBoolean();

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private final Wakeup bell;
    private boolean closed;

    // Shared: written under the lock, read by any thread.
    private volatile long sentCount;

    public WakeSignal(Wakeup bell) {
        this.bell = bell;
    }

    public int fd() {
        return bell.fd();
    }

    /// Signals that were really sent.
    public long sentCount() {
        return sentCount;
    }

    /// Any thread.
    public void signal() {
        // The plain read first: a failed exchange would still take the cache line from everyone.
        if (pending.get() || pending.getAndSet(true)) {
            return;
        }
        boolean decided = false;
        try {
            synchronized (lock) {
                if (!closed) {
                    ring();
                }
            }
            decided = true;
        } finally {
            if (!decided) {
                pending.set(false); // This thread's stack is full: somebody else has to signal.
            }
        }
    }

    /// Whether a signal is on its way, or was reported and not yet [#drained()].
    public boolean isPending() {
        return pending.get();
    }

    /// Called on the loop thread after the reported signal was drained, before the next sleep is
    /// announced. Until then `pending` stays set, because the kernel reports the signal again.
    public void drained() {
        pending.set(false);
    }

    public void close() {
        synchronized (lock) {
            if (!closed) {
                closed = true;
                bell.close();
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever under the lock
    private void ring() {
        while (true) {
            int errno = -bell.trigger();
            switch (errno) {
                case 0 -> {
                    sentCount++;
                    return;
                }
                case Errno.EINTR -> {}
                // We did not close it, so somebody closed a number that was not theirs. Taken as
                // the end: the flag stays.
                case Errno.EBADF -> {
                    report(errno);
                    return;
                }
                // No bell is known to answer so. Let the next producer try again.
                default -> {
                    pending.set(false);
                    report(errno);
                    return;
                }
            }
        }
    }

    /// To the operator and not to the producer, whose task is queued and must not seem refused.
    private void report(int errno) {
        LOG.log(
                Level.ERROR,
                "the loop could not be woken",
                new SystemCallException(bell.call(), errno, bell.fd()));
    }
}
