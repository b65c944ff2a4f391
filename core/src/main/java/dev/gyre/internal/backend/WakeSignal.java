package dev.gyre.internal.backend;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kernel;
import dev.gyre.internal.sys.Memory;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/// An eventfd that interrupts a wait.
///
/// It is registered edge-triggered and never read: every write is a new edge, so a read would only cost a
/// system call. *Drained* therefore means that epoll has reported the edge.
///
/// `pending` is true from the moment a producer decides to write until the loop has seen the edge. While
/// it is true every other producer can go home: the loop clears it **before** it announces its next sleep
/// and looks at the lanes, so whatever was enqueued by someone who found it true will be seen.
///
/// The lock makes write and close exclude each other. Without it a producer could be held up just before
/// its write, and write into whatever descriptor got the number after the close. It also guards the
/// kernel's errno memory and is taken only by the one producer that won `pending`.
public final class WakeSignal {
    private static final System.Logger LOG = System.getLogger("dev.gyre");

    private final int fd;

    // Shared: set by any thread, cleared by the loop.
    private final AtomicBoolean pending = new AtomicBoolean();

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private final Kernel kernel;
    private final MemorySegment counter = Memory.allocate(Long.BYTES);
    private boolean closed;

    // Shared: written under the lock, read by any thread.
    private volatile long written;

    public WakeSignal(Kernel kernel, int fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    public int fd() {
        return fd;
    }

    public long written() {
        return written;
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
                    write();
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

    /// Loop thread, when epoll has reported the edge, before the next sleep is announced.
    public void drained() {
        pending.set(false);
    }

    public void close() {
        synchronized (lock) {
            if (!closed) {
                closed = true;
                kernel.close(fd);
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever under the lock
    private void write() {
        long address = counter.address();
        while (true) {
            Memory.putLong(address, 1);
            long result = kernel.write(fd, address, Long.BYTES);
            if (result == Long.BYTES) {
                written++;
                return;
            }
            int errno = (int) -result;
            switch (errno) {
                case Errno.EINTR -> {}
                // The counter is full, after 2^64 - 2 wake-ups that nobody read: empty it.
                case Errno.EAGAIN -> kernel.read(fd, address, Long.BYTES);
                // We did not close it, so somebody closed a number that was not theirs. Taken as
                // the end: the flag stays.
                case Errno.EBADF -> {
                    report(errno);
                    return;
                }
                // No eventfd is known to answer so. Let the next producer try again.
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
                new SystemCallException("write(eventfd)", errno, fd));
    }
}
