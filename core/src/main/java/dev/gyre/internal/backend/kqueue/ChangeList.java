package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;

import java.lang.foreign.MemorySegment;

/// A few changes that are handed to the kernel in one call.
///
/// Each asks for a receipt (`EV_RECEIPT`). So one that is refused does not keep the others from
/// being made, and each has a result of its own. A call that brings receipts does not wait and
/// takes no events, so it may be made while another thread waits.
///
/// One thread at a time: whoever owns it.
final class ChangeList {
    /// Three filters to delete, and as many to add.
    private static final int MOST = 6;

    private final KqueueCalls calls;
    private final KqueueFlavour flavour;
    private final int kq;
    private final MemorySegment changes;
    private final MemorySegment receipts;
    private int count;

    ChangeList(KqueueCalls calls, KqueueFlavour flavour, int kq) {
        this.calls = calls;
        this.flavour = flavour;
        this.kq = kq;
        changes = Memory.allocate((long) MOST * flavour.sizeofKevent());
        receipts = Memory.allocate((long) MOST * flavour.sizeofKevent());
    }

    ChangeList clear() {
        count = 0;
        return this;
    }

    int size() {
        return count;
    }

    /// The filter of the change that was put in at that place.
    int filter(int place) {
        return Kevent.filter(changes.address() + (long) place * flavour.sizeofKevent());
    }

    ChangeList put(int ident, int filter, int flags, int fflags, long udata) {
        assert count < MOST : "more changes than there is room for";
        long address = changes.address() + (long) count * flavour.sizeofKevent();
        Kevent.put(address, ident, filter, flags | Kevent.EV_RECEIPT, fflags, 0, udata);
        count++;
        return this;
    }

    ChangeList delete(int ident, int filter) {
        return put(ident, filter, Kevent.EV_DELETE, 0, 0);
    }

    /// Has the kernel make the changes.
    ///
    /// @return zero if each has its own [#result], or `-errno`
    int submit() {
        int result;
        do {
            // Interrupted, it may have made them already: making them again comes to the same.
            result = calls.kevent(kq, changes.address(), count, receipts.address(), count, 0);
        } while (result == -Errno.EINTR);
        if (result < 0) {
            return result;
        }
        return result == count ? 0 : -Errno.EIO; // No kernel is known to owe receipts.
    }

    /// What became of the change that was put in at that place: zero or `-errno`.
    int result(int place) {
        long receipt = receipts.address() + (long) place * flavour.sizeofKevent();
        return -flavour.errno((int) Kevent.data(receipt));
    }
}
