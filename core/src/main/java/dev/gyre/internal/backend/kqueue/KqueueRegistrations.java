package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/// Registers descriptors as kqueue filters: one for reading, one for writing, and on macOS a third
/// for urgent data.
///
/// A change always deletes all filters and adds the wanted ones, in one call. Adding to an existing
/// filter would keep its flags, so that neither edge nor one-shot could change. A new filter also
/// reports the present state, as a change of interest has to.
///
/// The `udata` of an event has, besides fd and generation, the marks below: enough to interpret the
/// event without a lookup.
final class KqueueRegistrations extends Registrations {
    private static final int SOCKET_TAG = 1;

    /// A socket, whose two directions end separately.
    static final long SOCKET = (long) SOCKET_TAG << TAG_SHIFT;

    /// Several filters are armed, and the first event of any disarms all.
    static final long ONE_SHOT_OF_MANY = 2L << TAG_SHIFT;

    /// A filter for reading is armed.
    static final long READS = 4L << TAG_SHIFT;

    /// The peer's end is reported as [Readiness#END].
    static final long ENDS = 8L << TAG_SHIFT;

    /// A filter for urgent data is armed.
    static final long URGENT = 16L << TAG_SHIFT;

    private static final long FD_AND_GENERATION = 0xFFFF_FFFF_0000_0000L | MAX_FDS - 1;

    private final KqueueCalls calls;
    private final ChangeList changes;
    private final int exceptFilter;
    final BrokenPipes brokenPipes;

    /// @param wake makes the loop poll
    KqueueRegistrations(KqueueCalls calls, KqueueFlavour flavour, int kq, Runnable wake) {
        this.calls = calls;
        brokenPipes = new BrokenPipes(wake);
        changes = new ChangeList(calls, flavour, kq);
        exceptFilter = flavour.exceptFilter();
    }

    /// Returns whether the event belongs to the backend itself: no registration has generation
    /// zero.
    static boolean isOwn(long udata) {
        return udata >>> 32 == 0;
    }

    static boolean has(long udata, long mark) {
        return (udata & mark) != 0;
    }

    /// Returns whether two events belong to one registration, possibly changed in between.
    static boolean isSameRegistration(long udata, long other) {
        return (udata & FD_AND_GENERATION) == (other & FD_AND_GENERATION);
    }

    private static long marks(int interest) {
        int filters = interest & (Readiness.READ | Readiness.WRITE | Readiness.URGENT);
        long marks = 0;
        if ((interest & Readiness.READ) != 0) {
            marks |= READS;
        }
        if ((interest & Readiness.END) != 0) {
            marks |= ENDS;
        }
        if ((interest & Readiness.URGENT) != 0) {
            marks |= URGENT;
        }
        if ((interest & Readiness.ONE_SHOT) != 0 && Integer.bitCount(filters) > 1) {
            marks |= ONE_SHOT_OF_MANY;
        }
        return marks;
    }

    @Override
    protected String call(boolean registering) {
        return "kevent(Kevent.EV_ADD)";
    }

    /// Refuses files, as other kernels do: kqueue would report them as ready again and again.
    @Override
    protected int examine(int fd) {
        int type = calls.fileType(fd);
        return switch (type) {
            case Kevent.S_IFREG, Kevent.S_IFDIR, Kevent.S_IFBLK -> -Errno.EPERM;
            case Kevent.S_IFSOCK -> SOCKET_TAG;
            default -> Math.min(type, 0);
        };
    }

    /// The first event of a one-shot registration disarms its other filters. An event from before a
    /// change would disarm the filters that the change has armed.
    @Override
    protected boolean isStaleAfter(int interestBefore, int interestAfter) {
        return ((interestBefore | interestAfter) & Readiness.ONE_SHOT) != 0;
    }

    @Override
    protected int arm(boolean registering, int fd, long data, int interest) {
        boolean urgent = (interest & Readiness.URGENT) != 0;
        if (urgent && exceptFilter == 0) {
            return -Errno.EOPNOTSUPP; // Better than an event that is never reported.
        }
        brokenPipes.remove(fd);
        deleteAll(fd);
        int first = changes.size();
        int flags = Kevent.EV_ADD | Kevent.EV_ENABLE | mode(interest);
        long udata = data | marks(interest);
        if ((interest & (Readiness.READ | Readiness.END)) != 0) { // It also reports EV_EOF.
            changes.put(fd, Kevent.EVFILT_READ, flags, 0, udata);
        }
        if ((interest & Readiness.WRITE) != 0) {
            changes.put(fd, Kevent.EVFILT_WRITE, flags, 0, udata);
        }
        if (urgent) {
            changes.put(fd, exceptFilter, flags, Kevent.NOTE_OOB, udata);
        }
        int result = changes.submit();
        for (int i = first; i < changes.size() && result == 0; i++) {
            result = changes.result(i);
            if (result == -Errno.EPIPE && changes.filter(i) == Kevent.EVFILT_WRITE) {
                brokenPipes.add(udata, (flags & (Kevent.EV_CLEAR | Kevent.EV_ONESHOT)) == 0);
                result = 0;
            }
        }
        if (result < 0) {
            disarm(fd); // All filters or none.
        }
        return result;
    }

    private static int mode(int interest) {
        if ((interest & Readiness.ONE_SHOT) != 0) {
            return Kevent.EV_ONESHOT;
        }
        return (interest & Readiness.EDGE) != 0 ? Kevent.EV_CLEAR : 0;
    }

    @Override
    protected void disarm(int fd) {
        brokenPipes.remove(fd);
        deleteAll(fd);
        int _ = changes.submit();
    }

    private void deleteAll(int fd) {
        changes.clear().delete(fd, Kevent.EVFILT_READ).delete(fd, Kevent.EVFILT_WRITE);
        if (exceptFilter != 0) {
            changes.delete(fd, exceptFilter);
        }
    }

    /// Reports the error of pipe writers whose reader was closed before they were registered. The
    /// BSDs refuse to watch them, with `EPIPE`; Linux watches them and reports an error at once.
    ///
    /// There is at most one per registered descriptor.
    static final class BrokenPipes {
        private record BrokenPipe(long udata, boolean repeats) {}

        private final Runnable wake;

        // Shared: guarded by this. The loop reads `isEmpty` without the lock.
        private final Map<Integer, BrokenPipe> byFd = new LinkedHashMap<>();
        private volatile boolean isEmpty = true;

        BrokenPipes(Runnable wake) {
            this.wake = wake;
        }

        /// @param repeats whether each poll reports it while it is registered, or only the first
        void add(long udata, boolean repeats) {
            synchronized (this) {
                byFd.put(fdOf(udata), new BrokenPipe(udata, repeats));
                isEmpty = false;
            }
            wake.run();
        }

        void remove(int fd) {
            if (!isEmpty) {
                synchronized (this) {
                    byFd.remove(fd);
                    isEmpty = byFd.isEmpty();
                }
            }
        }

        /// Returns whether the loop may wait. Loop thread only.
        boolean isEmpty() {
            return isEmpty;
        }

        /// Adds the events to a batch. Loop thread only.
        void report(MergedEvents batch) {
            if (isEmpty) {
                return;
            }
            synchronized (this) {
                for (BrokenPipe pipe : new ArrayList<>(byFd.values())) {
                    if (!batch.hasRoom()) {
                        break;
                    }
                    batch.addBrokenPipe(pipe.udata);
                    int fd = fdOf(pipe.udata);
                    byFd.remove(fd);
                    if (pipe.repeats) {
                        byFd.put(fd, pipe); // Behind those that found no room.
                    }
                }
                isEmpty = byFd.isEmpty();
            }
        }
    }
}
