package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueFlavour;

import java.util.Arrays;

/// The events of one poll, one per registration, in bits of [Readiness]. kqueue reports each filter
/// separately, but the callbacks of a descriptor have an order (W-5), and a one-shot registration
/// has a single event.
///
/// Loop thread only.
final class MergedEvents {
    // The filters that reported an event, and those of them that reported an end.
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int EXCEPT = 4;
    private static final int READ_END = 8;
    private static final int WRITE_END = 16;

    private final KqueueFlavour flavour;
    private final long[] udata;
    private final int[] events;
    private final int[] filters;

    /// The index of an event by fd. Valid only if the event at the index has that fd.
    private int[] indexByFd = new int[64];

    private int size;
    private int next;

    MergedEvents(KqueueFlavour flavour, int capacity) {
        this.flavour = flavour;
        udata = new long[capacity];
        events = new int[capacity];
        filters = new int[capacity];
    }

    int remaining() {
        return size - next;
    }

    boolean hasRoom() {
        return size < udata.length;
    }

    void clear() {
        size = 0;
        next = 0;
    }

    /// Adds the `struct kevent` at an address.
    void add(long kevent) {
        long mark = Kevent.udata(kevent);
        int filter = Kevent.filter(kevent);
        int flags = Kevent.flags(kevent);
        boolean failed = (flags & Kevent.EV_ERROR) != 0;
        int error = failed ? Readiness.error(flavour.errno((int) Kevent.data(kevent))) : 0;
        if (filter == flavour.exceptFilter()) {
            add(mark, failed ? error : Readiness.URGENT, EXCEPT);
            return;
        }
        boolean reads = filter == Kevent.EVFILT_READ;
        int reported = reads ? READ : WRITE;
        int ready = reads ? Readiness.READ : Readiness.WRITE;
        if (failed) {
            ready |= error;
        } else if ((flags & Kevent.EV_EOF) != 0) {
            reported |= reads ? READ_END : WRITE_END;
            ready = readyAtEnd(kevent, mark, reads);
        }
        add(mark, ready, reported);
    }

    void addBrokenPipe(long mark) {
        add(mark, Readiness.WRITE | Readiness.ERROR, WRITE);
    }

    /// Translates an end that a filter reports to the events that epoll reports for it.
    ///
    /// The filters of a socket report an end each, as its directions end separately; once both have
    /// ended, it has hung up. A pipe has one direction. Its reader has hung up once the writer is
    /// closed, and is readable only if bytes are left. Its writer has an error once the reader is
    /// closed. A terminal is like a pipe.
    private static int readyAtEnd(long kevent, long mark, boolean reads) {
        int ready = reads ? Readiness.READ : Readiness.WRITE;
        if (!KqueueRegistrations.has(mark, KqueueRegistrations.SOCKET)) {
            if (!reads) {
                return ready | Readiness.ERROR;
            }
            return Kevent.data(kevent) > 0 ? ready | Readiness.HANGUP : Readiness.HANGUP;
        }
        if (reads && KqueueRegistrations.has(mark, KqueueRegistrations.ENDS)) {
            ready |= Readiness.END;
        }
        if (Kevent.fflags(kevent) != 0) { // the socket's error
            return ready | Readiness.ERROR | Readiness.HANGUP;
        }
        // With a filter for reading, that filter reports whether its direction has ended too.
        return reads || KqueueRegistrations.has(mark, KqueueRegistrations.READS)
                ? ready
                : ready | Readiness.HANGUP;
    }

    /// Merges the event of a filter with those that other filters of the registration reported.
    private void add(long mark, int ready, int reported) {
        int fd = Registrations.fdOf(mark);
        if (fd >= indexByFd.length) {
            indexByFd = Arrays.copyOf(indexByFd, Math.max(fd + 1, indexByFd.length * 2));
        }
        int index = indexByFd[fd];
        if (index < size && KqueueRegistrations.isSameRegistration(udata[index], mark)) {
            // One errno for all filters: that of the filter that reported first.
            boolean first = Readiness.errno(events[index]) == 0;
            events[index] |= first ? ready : ready & Readiness.EVENTS;
            filters[index] |= reported;
            return;
        }
        indexByFd[fd] = size;
        udata[size] = mark;
        events[size] = ready;
        filters[size] = reported;
        size++;
    }

    /// Returns false if none is left.
    boolean advance() {
        if (next == size) {
            return false;
        }
        next++;
        return true;
    }

    long udata() {
        return udata[next - 1];
    }

    /// Returns the bits of [Readiness].
    int events() {
        int ready = events[next - 1];
        boolean bothEnded = (~filters[next - 1] & (READ_END | WRITE_END)) == 0;
        return bothEnded && KqueueRegistrations.has(udata(), KqueueRegistrations.SOCKET)
                ? ready | Readiness.HANGUP
                : ready;
    }

    /// Returns whether the event leaves another filter of a one-shot registration armed.
    boolean leavesFilterArmed() {
        long mark = udata();
        if (!KqueueRegistrations.has(mark, KqueueRegistrations.ONE_SHOT_OF_MANY)) {
            return false;
        }
        // With urgent data there are two or three filters: disarming an absent one is harmless.
        return KqueueRegistrations.has(mark, KqueueRegistrations.URGENT)
                || (~filters[next - 1] & (READ | WRITE)) != 0;
    }
}
