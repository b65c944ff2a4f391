package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;

import java.lang.foreign.MemorySegment;

/// Submits a few changes to the kernel in one `kevent` call.
///
/// Each change asks for a receipt (`EV_RECEIPT`). So a refused change does not prevent the others,
/// and each has its own result. A call that returns receipts does not wait and consumes no events,
/// so it may run while another thread waits.
///
/// Confined to its owner, one thread at a time.
final class ChangeList {
    /// Three filters to delete, and three to add.
    private static final int MAX_CHANGES = 6;

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
        changes = Memory.allocate((long) MAX_CHANGES * flavour.sizeofKevent());
        receipts = Memory.allocate((long) MAX_CHANGES * flavour.sizeofKevent());
    }

    ChangeList clear() {
        count = 0;
        return this;
    }

    int size() {
        return count;
    }

    int filter(int index) {
        return Kevent.filter(changes.address() + (long) index * flavour.sizeofKevent());
    }

    ChangeList put(int ident, int filter, int flags, int fflags, long udata) {
        assert count < MAX_CHANGES : "more than " + MAX_CHANGES + " changes";
        long address = changes.address() + (long) count * flavour.sizeofKevent();
        Kevent.put(address, ident, filter, flags | Kevent.EV_RECEIPT, fflags, 0, udata);
        count++;
        return this;
    }

    ChangeList delete(int ident, int filter) {
        return put(ident, filter, Kevent.EV_DELETE, 0, 0);
    }

    /// Returns zero if each change has its own [#result], or `-errno`.
    int submit() {
        int result;
        do {
            // An interrupted call may have made them already; repeating them is harmless.
            result = calls.kevent(kq, changes.address(), count, receipts.address(), count, 0);
        } while (result == -Errno.EINTR);
        if (result < 0) {
            return result;
        }
        return result == count ? 0 : -Errno.EIO; // No kernel is known to omit receipts.
    }

    /// Returns the result of a change: zero or `-errno`.
    int result(int index) {
        long receipt = receipts.address() + (long) index * flavour.sizeofKevent();
        return -flavour.errno((int) Kevent.data(receipt));
    }
}
