package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.sys.Kevent.EVFILT_READ;
import static dev.gyre.internal.sys.Kevent.EVFILT_WRITE;
import static dev.gyre.internal.sys.Kevent.EV_ADD;
import static dev.gyre.internal.sys.Kevent.EV_CLEAR;
import static dev.gyre.internal.sys.Kevent.EV_ENABLE;
import static dev.gyre.internal.sys.Kevent.EV_ONESHOT;

import dev.gyre.internal.backend.InterestUpdater;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;

/// Descriptors as kqueue knows them: a filter for reading, another for writing, and a third for
/// urgent data on macOS.
///
/// A change always deletes all filters and adds anew what is wanted, in one call. Adding to a
/// filter that is there would keep its old flags, so that neither edge nor one-shot could be
/// changed; and a filter that is added anew reports what is so at that moment, as a change of
/// interest has to.
final class FilterInterestUpdater implements InterestUpdater {
    private final KqueueCalls calls;
    private final ChangeList changes;
    private final int exceptFilter;
    private final BrokenPipes brokenPipes;

    FilterInterestUpdater(
            KqueueCalls calls, ChangeList changes, int exceptFilter, BrokenPipes brokenPipes) {
        this.calls = calls;
        this.changes = changes;
        this.exceptFilter = exceptFilter;
        this.brokenPipes = brokenPipes;
    }

    @Override
    public String call(boolean registering) {
        return "kevent(EV_ADD)";
    }

    /// Kqueue watches files too, and finds them ready for ever. Refused as other kernels refuse
    /// it.
    @Override
    public int examine(int fd) {
        int type = calls.fileType(fd);
        return switch (type) {
            case Kevent.S_IFREG, Kevent.S_IFDIR, Kevent.S_IFBLK -> -Errno.EPERM;
            case Kevent.S_IFSOCK -> Mark.DESCRIPTOR | Mark.SOCKET;
            default -> Math.min(type, Mark.DESCRIPTOR);
        };
    }

    /// The first event of a one-shot registration disarms its other filters. If it came from
    /// before a change it would disarm what the change has armed.
    @Override
    public boolean isStaleAfter(int interestBefore, int interestAfter) {
        return ((interestBefore | interestAfter) & Readiness.ONE_SHOT) != 0;
    }

    @Override
    public int arm(boolean registering, int fd, long data, int interest) {
        boolean urgent = (interest & Readiness.URGENT) != 0;
        if (urgent && exceptFilter == 0) {
            return -Errno.EOPNOTSUPP; // Better than to wait for what is never told.
        }
        brokenPipes.forget(fd);
        deleteAll(fd);
        int first = changes.size();
        int flags = EV_ADD | EV_ENABLE | mode(interest);
        long udata = data | marks(interest);
        if ((interest & (Readiness.READ | Readiness.END)) != 0) { // EV_EOF is of the filter.
            changes.put(fd, EVFILT_READ, flags, 0, udata);
        }
        if ((interest & Readiness.WRITE) != 0) {
            changes.put(fd, EVFILT_WRITE, flags, 0, udata);
        }
        if (urgent) {
            changes.put(fd, exceptFilter, flags, Kevent.NOTE_OOB, udata);
        }
        int result = changes.submit();
        for (int i = first; i < changes.size() && result == 0; i++) {
            result = changes.result(i);
            if (result == -Errno.EPIPE && changes.filter(i) == EVFILT_WRITE) {
                brokenPipes.add(udata, (flags & (EV_CLEAR | EV_ONESHOT)) == 0);
                result = 0;
            }
        }
        if (result < 0) {
            disarm(fd); // Not one filter without the others.
        }
        return result;
    }

    private static long marks(int interest) {
        int filters = interest & (Readiness.READ | Readiness.WRITE | Readiness.URGENT);
        long marks = 0;
        if ((interest & Readiness.READ) != 0) {
            marks |= Mark.READS;
        }
        if ((interest & Readiness.END) != 0) {
            marks |= Mark.ENDS;
        }
        if ((interest & Readiness.URGENT) != 0) {
            marks |= Mark.URGENT;
        }
        if ((interest & Readiness.ONE_SHOT) != 0 && Integer.bitCount(filters) > 1) {
            marks |= Mark.ONE_SHOT_OF_MANY;
        }
        return marks;
    }

    private static int mode(int interest) {
        if ((interest & Readiness.ONE_SHOT) != 0) {
            return EV_ONESHOT;
        }
        return (interest & Readiness.EDGE) != 0 ? EV_CLEAR : 0;
    }

    @Override
    public void disarm(int fd) {
        brokenPipes.forget(fd);
        deleteAll(fd);
        int _ = changes.submit();
    }

    private void deleteAll(int fd) {
        changes.clear().delete(fd, EVFILT_READ).delete(fd, EVFILT_WRITE);
        if (exceptFilter != 0) {
            changes.delete(fd, exceptFilter);
        }
    }
}
