package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.sys.Kevent.EVFILT_READ;
import static dev.gyre.internal.sys.Kevent.EVFILT_WRITE;
import static dev.gyre.internal.sys.Kevent.EV_ADD;
import static dev.gyre.internal.sys.Kevent.EV_CLEAR;
import static dev.gyre.internal.sys.Kevent.EV_ENABLE;
import static dev.gyre.internal.sys.Kevent.EV_ONESHOT;

import dev.gyre.internal.backend.Arming;
import dev.gyre.internal.backend.Interest;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;

/// Descriptors as kqueue knows them: a filter for reading, another for writing.
///
/// A change always deletes both filters and adds anew what is wanted, in one call. Adding to a filter that is there would
/// keep its old flags, so that neither edge nor one-shot could be changed; and a filter that is added anew reports what
/// is so at that moment, as a change of interest has to.
final class FilterArming implements Arming {
    private final KqueueCalls calls;
    private final ChangeList changes;
    private final BrokenPipes brokenPipes;

    FilterArming(KqueueCalls calls, ChangeList changes, BrokenPipes brokenPipes) {
        this.calls = calls;
        this.changes = changes;
        this.brokenPipes = brokenPipes;
    }

    @Override
    public String call(boolean registering) {
        return "kevent(EV_ADD)";
    }

    /// Kqueue watches files too, and finds them ready for ever. Refused as other kernels refuse it.
    @Override
    public int examine(int fd) {
        int type = calls.fileType(fd);
        return switch (type) {
            case Kevent.S_IFREG, Kevent.S_IFDIR, Kevent.S_IFBLK -> -Errno.EPERM;
            case Kevent.S_IFSOCK -> Mark.DESCRIPTOR | Mark.SOCKET;
            default -> Math.min(type, Mark.DESCRIPTOR);
        };
    }

    /// The first event of a one-shot pair disarms the other filter. If it came from before a change it would disarm
    /// what the change has armed.
    @Override
    public boolean isStaleAfter(int interestBefore, int interestAfter) {
        return ((interestBefore | interestAfter) & Interest.ONE_SHOT) != 0;
    }

    @Override
    public int arm(boolean registering, int fd, long data, int interest) {
        brokenPipes.forget(fd);
        boolean reads = (interest & Interest.READ) != 0;
        boolean writes = (interest & Interest.WRITE) != 0;
        int flags = EV_ADD | EV_ENABLE | mode(interest);
        long udata = data | (reads ? Mark.READS : 0);
        if (reads && writes && (interest & Interest.ONE_SHOT) != 0) {
            udata |= Mark.ONE_SHOT_PAIR;
        }
        changes.clear().delete(fd, EVFILT_READ).delete(fd, EVFILT_WRITE);
        if (reads) {
            changes.put(fd, EVFILT_READ, flags, 0, udata);
        }
        if (writes) {
            changes.put(fd, EVFILT_WRITE, flags, 0, udata);
        }
        int result = changes.submit();
        if (result == 0 && reads) {
            result = changes.result(2);
        }
        if (result == 0 && writes) {
            result = changes.result(reads ? 3 : 2);
            if (result == -Errno.EPIPE) {
                brokenPipes.add(udata, (flags & (EV_CLEAR | EV_ONESHOT)) == 0);
                return 0;
            }
        }
        if (result < 0) {
            disarm(fd); // Not one filter without the other.
        }
        return result;
    }

    private static int mode(int interest) {
        if ((interest & Interest.ONE_SHOT) != 0) {
            return EV_ONESHOT;
        }
        return (interest & Interest.EDGE) != 0 ? EV_CLEAR : 0;
    }

    @Override
    public void disarm(int fd) {
        brokenPipes.forget(fd);
        int _ = changes.clear().delete(fd, EVFILT_READ).delete(fd, EVFILT_WRITE).submit();
    }
}
