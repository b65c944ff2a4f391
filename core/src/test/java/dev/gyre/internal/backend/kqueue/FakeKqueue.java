package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.sys.Kevent.EVFILT_READ;
import static dev.gyre.internal.sys.Kevent.EVFILT_WRITE;
import static dev.gyre.internal.sys.Kevent.EV_ADD;
import static dev.gyre.internal.sys.Kevent.EV_CLEAR;
import static dev.gyre.internal.sys.Kevent.EV_DELETE;
import static dev.gyre.internal.sys.Kevent.EV_ENABLE;
import static dev.gyre.internal.sys.Kevent.EV_EOF;
import static dev.gyre.internal.sys.Kevent.EV_ERROR;
import static dev.gyre.internal.sys.Kevent.EV_ONESHOT;
import static dev.gyre.internal.sys.Kevent.EV_RECEIPT;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A kernel with kqueue, in memory: one queue, over [FakeDescriptor]s. Faithful in what matters to
/// the backend:
///
/// - adding to an existing filter keeps its `EV_CLEAR` and `EV_ONESHOT`;
/// - any change replaces the `udata`;
/// - a call that has receipts or errors to return neither waits nor consumes events;
/// - closing a descriptor deletes its filters silently;
/// - a pipe without a reader cannot be watched for writing: `EPIPE`;
/// - errnos inside a `struct kevent` are those of the simulated system.
///
/// One monitor guards everything; a wait releases it.
final class FakeKqueue implements KqueueCalls {
    private static final int EV_DISABLE = 0x8;
    private static final int EV_DISPATCH = 0x80;

    private record Key(long ident, int filter) {}

    private static final class Knote {
        final Key key;
        final int mode;
        long udata;
        int wantedNotes;
        boolean disabled;

        /// Something happened since it was reported last.
        boolean active = true;

        int notes;
        long count;
        int failure;

        Knote(Key key, int mode) {
            this.key = key;
            this.mode = mode;
        }
    }

    private record Report(int flags, int fflags, long data) {}

    final KqueueFlavour flavour;
    private final Map<Integer, FakeDescriptor> descriptors = new HashMap<>();
    private final Map<Key, Knote> knotes = new LinkedHashMap<>();
    private final Map<Integer, Integer> refusals = new HashMap<>();
    private int kq = -1;
    private int waiters;

    FakeKqueue(KqueueFlavour flavour) {
        this.flavour = flavour;
    }

    // ------------------------------------------------------------------ what tests do

    /// Refuses each addition of that filter with an error of [Errno], until it is zero.
    synchronized void refuse(int filter, int errno) {
        refusals.put(filter, errno);
    }

    synchronized void sendUrgent(int fd) {
        Knote knote = knotes.get(new Key(fd, flavour.exceptFilter()));
        if (knote != null && (Kevent.NOTE_OOB & knote.wantedNotes) != 0) {
            knote.notes |= Kevent.NOTE_OOB;
            knote.count++;
            knote.active = true;
            notifyAll();
        }
    }

    /// Reports an error of [Errno] once instead of what a filter would report, and deletes the
    /// filter.
    synchronized void failFilter(int fd, int filter, int errno) {
        Knote knote = knotes.get(new Key(fd, filter));
        if (knote == null) {
            throw new AssertionError("no such filter: " + filter);
        }
        knote.failure = errno;
        notifyAll();
    }

    /// How many filters the kernel has.
    synchronized int filters() {
        return knotes.size();
    }

    /// Waits until a thread waits in the kernel.
    synchronized void awaitWaiter() throws InterruptedException {
        while (waiters == 0) {
            wait();
        }
    }

    /// Ends the writing of a socket, as `shutdown(SHUT_WR)` does.
    synchronized void shutDown(int fd) {
        FakeDescriptor descriptor = get(fd);
        descriptor.shutDown();
        activate(descriptor);
        activateFilters(descriptor);
    }

    /// Ends a socket by an error, of [Errno].
    synchronized void reset(int fd, int errno) {
        FakeDescriptor descriptor = get(fd);
        descriptor.reset(errno);
        activateFilters(descriptor);
    }

    /// Fills what can be written to it.
    synchronized void fill(int fd) {
        FakeDescriptor descriptor = get(fd);
        descriptor.write(0, Long.MAX_VALUE);
        activate(descriptor);
    }

    FakeDescriptor get(int fd) {
        FakeDescriptor descriptor = descriptors.get(fd);
        if (descriptor == null) {
            throw new AssertionError("not open: " + fd);
        }
        return descriptor;
    }

    synchronized int open(FakeDescriptor descriptor) {
        int fd = 3;
        while (descriptors.containsKey(fd)) {
            fd++;
        }
        descriptors.put(fd, descriptor);
        return fd;
    }

    synchronized Set<Integer> openNumbers() {
        return Set.copyOf(descriptors.keySet());
    }

    // ------------------------------------------------------------------ the calls

    @Override
    public synchronized int kqueue() {
        kq = open(FakeDescriptor.queue());
        return kq;
    }

    @Override
    public synchronized int fileType(int fd) {
        FakeDescriptor descriptor = descriptors.get(fd);
        return descriptor == null ? -Errno.EBADF : descriptor.type();
    }

    @Override
    public synchronized int close(int fd) {
        FakeDescriptor closed = descriptors.remove(fd);
        if (closed == null) {
            return -Errno.EBADF;
        }
        if (fd == kq) {
            knotes.clear();
        }
        knotes.keySet()
                .removeIf(
                        key ->
                                key.ident == fd
                                        && (key.filter == EVFILT_READ
                                                || key.filter == EVFILT_WRITE));
        closed.close();
        activate(closed);
        return 0;
    }

    @Override
    public synchronized long write(int fd, long address, long count) {
        FakeDescriptor descriptor = descriptors.get(fd);
        if (descriptor == null) {
            return -Errno.EBADF;
        }
        long result = descriptor.write(address, count);
        activate(descriptor);
        return result;
    }

    @Override
    public synchronized long read(int fd, long address, long count) {
        FakeDescriptor descriptor = descriptors.get(fd);
        if (descriptor == null) {
            return -Errno.EBADF;
        }
        long result = descriptor.read(address, count);
        activate(descriptor);
        return result;
    }

    /// A change at one end makes the filters of the other one check again.
    private void activate(FakeDescriptor touched) {
        for (Knote knote : knotes.values()) {
            FakeDescriptor of = descriptors.get((int) knote.key.ident);
            if (isReadiness(knote.key.filter) && of != null && of.isPeerOf(touched)) {
                knote.active = true;
            }
        }
        notifyAll();
    }

    void activateFilters(FakeDescriptor descriptor) {
        for (Knote knote : knotes.values()) {
            if (isReadiness(knote.key.filter)
                    && descriptors.get((int) knote.key.ident) == descriptor) {
                knote.active = true;
            }
        }
        notifyAll();
    }

    @Override
    public synchronized int pipe(long pairAddress) {
        FakeDescriptor[] ends = FakeDescriptor.pipe();
        Memory.putInt(pairAddress, open(ends[0]));
        Memory.putInt(pairAddress + Integer.BYTES, open(ends[1]));
        return 0;
    }

    @Override
    public synchronized int fcntl(int fd, int command, int argument) {
        return descriptors.containsKey(fd) ? 0 : -Errno.EBADF;
    }

    private static boolean isReadiness(int filter) {
        return filter == EVFILT_READ || filter == EVFILT_WRITE;
    }

    @Override
    public synchronized int kevent(
            int queue, long changes, int changeCount, long events, int maxEvents, long timespec) {
        if (queue != kq || !descriptors.containsKey(queue)) {
            return -Errno.EBADF;
        }
        int returned = 0;
        for (int i = 0; i < changeCount; i++) {
            long change = changes + (long) i * flavour.sizeofKevent();
            int errno = apply(change);
            boolean receipt = (Kevent.flags(change) & EV_RECEIPT) != 0;
            if (errno != 0 && returned == maxEvents) {
                return -errno;
            }
            if ((errno != 0 || receipt) && returned < maxEvents) {
                long event = events + (long) returned++ * flavour.sizeofKevent();
                Kevent.put(
                        event,
                        Kevent.ident(change),
                        Kevent.filter(change),
                        Kevent.flags(change) | EV_ERROR,
                        0,
                        systemErrno(errno),
                        Kevent.udata(change));
            }
        }
        notifyAll();
        return returned > 0 || maxEvents == 0 ? returned : await(events, maxEvents, timespec);
    }

    /// Returns the errno of the simulated system.
    private int systemErrno(int errno) {
        for (int number = 0; number < 200; number++) {
            if (flavour.errno(number) == errno) {
                return number;
            }
        }
        throw new AssertionError("no such error here: " + Errno.name(errno));
    }

    private int apply(long change) {
        Key key = new Key(Kevent.ident(change), Kevent.filter(change));
        int flags = Kevent.flags(change);
        Knote knote = knotes.get(key);
        if ((flags & EV_ADD) != 0 && knote == null) {
            int refused = refusal(key);
            if (refused != 0) {
                return refused;
            }
            knote = new Knote(key, flags & (EV_CLEAR | EV_ONESHOT | EV_DISPATCH));
            knote.active = isReadiness(key.filter);
            knotes.put(key, knote);
        }
        if (knote == null) {
            return isReadiness(key.filter) && !descriptors.containsKey((int) key.ident)
                    ? Errno.EBADF
                    : Errno.ENOENT;
        }
        if ((flags & EV_DELETE) != 0) {
            knotes.remove(key);
            return 0;
        }
        knote.udata = Kevent.udata(change);
        if (key.filter == flavour.userFilter()) {
            knote.active |= (Kevent.fflags(change) & Kevent.NOTE_TRIGGER) != 0;
        } else {
            knote.wantedNotes = Kevent.fflags(change);
        }
        if ((flags & EV_DISABLE) != 0) {
            knote.disabled = true;
        }
        if ((flags & EV_ENABLE) != 0) {
            knote.disabled = false;
        }
        return 0;
    }

    private int refusal(Key key) {
        int refused = refusals.getOrDefault(key.filter, 0);
        if (refused != 0) {
            return refused;
        }
        if (key.filter == flavour.userFilter()) {
            return 0;
        }
        FakeDescriptor descriptor = descriptors.get((int) key.ident);
        if (descriptor == null) {
            return Errno.EBADF;
        }
        if (key.filter == flavour.exceptFilter()) {
            return 0;
        }
        return switch (key.filter) {
            case EVFILT_WRITE -> descriptor.isBrokenPipe() ? Errno.EPIPE : 0;
            case EVFILT_READ -> 0;
            default -> Errno.EINVAL;
        };
    }

    // ------------------------------------------------------------------ waiting

    private int await(long events, int maxEvents, long timespec) {
        long nanos =
                timespec == 0
                        ? Long.MAX_VALUE
                        : Memory.getLong(timespec) * 1_000_000_000L
                                + Memory.getLong(timespec + Kevent.OFFSETOF_TIMESPEC_NANOS);
        long start = System.nanoTime();
        while (true) {
            int found = scan(events, maxEvents);
            long left = nanos - (System.nanoTime() - start);
            if (found > 0 || left <= 0) {
                return found;
            }
            waiters++;
            notifyAll();
            try {
                wait(left / 1_000_000, (int) (left % 1_000_000));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return -Errno.EINTR;
            } finally {
                waiters--;
            }
        }
    }

    private int scan(long events, int maxEvents) {
        int found = 0;
        List<Knote> all = new ArrayList<>(knotes.values());
        for (Knote knote : all) {
            Report report = found == maxEvents ? null : report(knote);
            if (report == null) {
                continue;
            }
            long event = events + (long) found++ * flavour.sizeofKevent();
            Kevent.put(
                    event,
                    knote.key.ident,
                    knote.key.filter,
                    knote.mode | report.flags,
                    report.fflags,
                    report.data,
                    knote.udata);
            reported(knote, (report.flags & EV_ONESHOT) != 0);
        }
        return found;
    }

    private @Nullable Report report(Knote knote) {
        if (knote.failure != 0) {
            return new Report(EV_ERROR | EV_ONESHOT, 0, systemErrno(knote.failure));
        }
        boolean clear = (knote.mode & EV_CLEAR) != 0;
        if (knote.disabled || (clear && !knote.active)) {
            return null;
        }
        if (!isReadiness(knote.key.filter)) {
            return knote.active ? new Report(0, knote.notes, knote.count) : null;
        }
        FakeDescriptor descriptor = get((int) knote.key.ident);
        boolean read = knote.key.filter == EVFILT_READ;
        long data = read ? descriptor.readable() : descriptor.writable();
        boolean end = read ? descriptor.isReadEnd() : descriptor.isWriteEnd();
        if (data == 0 && !end) {
            return null;
        }
        return new Report(end ? EV_EOF : 0, end ? systemErrno(descriptor.error()) : 0, data);
    }

    private void reported(Knote knote, boolean last) {
        knotes.remove(knote.key);
        if (last || (knote.mode & EV_ONESHOT) != 0) {
            return;
        }
        knotes.put(knote.key, knote); // At the end: others are reported before it.
        knote.disabled = (knote.mode & EV_DISPATCH) != 0;
        if ((knote.mode & EV_CLEAR) != 0) {
            knote.active = false;
            knote.notes = 0;
            knote.count = 0;
        }
    }
}
