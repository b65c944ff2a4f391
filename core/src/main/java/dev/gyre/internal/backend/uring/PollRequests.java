package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUringAbi.IORING_CQE_F_MORE;
import static dev.gyre.internal.sys.IoUringAbi.IORING_POLL_ADD_MULTI;
import static dev.gyre.internal.sys.Linux.EPOLLIN;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;

/// The polls in the kernel, for watchers and for wake-ups, and the events that they reported.
///
/// **Submission.** An edge-triggered registration is one multishot poll. A one-shot registration is
/// one poll. A level-triggered registration is one poll too, and is submitted again before the next
/// wait, after its callbacks have run. The kernel then checks at once, and reports what still
/// holds. That costs an SQE and no call. The kernel's own level-triggered multishot only checks on
/// a change.
///
/// Each SQE has a new generation, so a CQE of a cancelled or replaced poll matches no registration.
///
/// **Confirmation.** A CQE reports the state when the poll was woken, and only the direction that
/// changed. A callback, or code between two runs, may have read or written since. epoll queries the
/// files again on each wait. One `poll(2)` confirms all collected events here in the same way.
///
/// **Wake-up.** A multishot poll of the eventfd reports each write, and the eventfd is never read.
/// A new poll reports old writes once more, so only a pending signal counts.
///
/// Confined to the owner of the ring; guarded by its lock while unowned.
final class PollRequests {
    private static final int SKIPPED = -1;

    private final SqeWriter sqes;
    private final UringCalls calls;
    private final PollTable table;
    private final Wakeup wake;
    private boolean wakeArmed;
    private boolean woken;

    private @Nullable PollRegistration[] slots = new @Nullable PollRegistration[64];
    private int[] free = new int[64];
    private int freeCount;
    private int slotsUsed;
    private int generation;

    /// Registrations whose poll in the kernel has to be updated.
    private final ArrayDeque<PollRegistration> due = new ArrayDeque<>();

    /// Registrations with events, and a `pollfd` for each. The events are copied out of the
    /// completion queue, because the ring may be closed before they are dispatched.
    private final @Nullable PollRegistration[] ready;

    private final MemorySegment pollfds;
    private int readyCount;
    private int confirmedCount;
    private int next;

    PollRequests(SqeWriter sqes, UringCalls calls, PollTable table, Wakeup wake, int capacity) {
        this.sqes = sqes;
        this.calls = calls;
        this.table = table;
        this.wake = wake;
        ready = new @Nullable PollRegistration[capacity];
        pollfds = Memory.allocate((long) capacity * Linux.SIZEOF_POLLFD);
    }

    /// Writes SQEs for all changes.
    ///
    /// @return false if the submission queue has no room at present; the rest is submitted later
    boolean submitPending() {
        if (!wakeArmed) {
            wakeArmed = sqes.poll(UserData.WAKEUP, wake.fd(), EPOLLIN, IORING_POLL_ADD_MULTI);
        }
        table.drainChanges(due);
        for (PollRegistration poll = due.peek(); poll != null; poll = due.peek()) {
            if (!submit(poll)) {
                return false;
            }
            due.remove();
        }
        return true;
    }

    boolean allSubmitted() {
        return wakeArmed && due.isEmpty();
    }

    /// Updates the poll of a registration to its interest.
    ///
    /// @return false if the submission queue has no room at present
    boolean submit(PollRegistration poll) {
        long interest = poll.interest();
        if (poll.armedInterest == interest) {
            return true;
        }
        if (poll.userData != 0) {
            if (!sqes.cancel(poll.userData)) {
                return false;
            }
            poll.userData = 0;
            poll.armedInterest = PollRegistration.UNARMED;
        }
        if (PollRegistration.isRemoved(interest)) {
            freeSlot(poll);
        } else if (!PollRegistration.isEmpty(interest) && !arm(poll, interest)) {
            return false;
        }
        poll.armedInterest = interest;
        return true;
    }

    private boolean arm(PollRegistration poll, long interest) {
        if (poll.slot < 0) {
            acquireSlot(poll);
        }
        generation = UserData.nextGeneration(generation);
        long userData = UserData.poll(poll.slot, generation);
        int flags = PollRegistration.isEdgeTriggered(interest) ? IORING_POLL_ADD_MULTI : 0;
        if (!sqes.poll(userData, poll.fd, PollRegistration.pollMask(interest), flags)) {
            return false;
        }
        poll.userData = userData;
        return true;
    }

    private void rearm(PollRegistration poll) {
        poll.armedInterest = PollRegistration.UNARMED;
        due.add(poll);
    }

    private void acquireSlot(PollRegistration poll) {
        if (freeCount > 0) {
            poll.slot = free[--freeCount];
        } else {
            if (slotsUsed == slots.length) {
                slots = Arrays.copyOf(slots, slots.length * 2);
            }
            poll.slot = slotsUsed++;
        }
        slots[poll.slot] = poll;
    }

    private void freeSlot(PollRegistration poll) {
        if (poll.slot < 0) {
            return;
        }
        slots[poll.slot] = null;
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, free.length * 2);
        }
        free[freeCount++] = poll.slot;
        poll.slot = -1;
    }

    void onRingClosed() {
        wakeArmed = false;
        for (int i = 0; i < slotsUsed; i++) {
            PollRegistration poll = slots[i];
            if (poll != null && poll.userData != 0) {
                poll.userData = 0;
                rearm(poll);
            }
        }
    }

    /// @param dispatches whether a tick follows that dispatches the event; if false, the poll is
    ///     rearmed, and reports the state at that time
    void onCompletion(long userData, int result, int flags, boolean dispatches) {
        boolean more = (flags & IORING_CQE_F_MORE) != 0;
        if (userData == UserData.WAKEUP) {
            onWakeup(more);
        } else if (UserData.isPoll(userData)) {
            PollRegistration poll = find(userData);
            int bits = poll == null ? 0 : complete(poll, result, more);
            if (poll != null && bits != 0 && !(dispatches && addReady(poll, bits, result < 0))) {
                rearm(poll);
            }
        }
    }

    private void onWakeup(boolean more) {
        wakeArmed &= more;
        if (wake.isPending()) {
            wake.drained();
            woken = true;
        }
    }

    /// Returns the registration of a CQE; null if its poll was cancelled or replaced.
    private @Nullable PollRegistration find(long userData) {
        int slot = UserData.slot(userData);
        PollRegistration poll = slot < slots.length ? slots[slot] : null;
        return poll != null && poll.userData == userData ? poll : null;
    }

    /// Returns the bits of [Readiness] that a CQE reports; 0 if none.
    private int complete(PollRegistration poll, int result, boolean more) {
        if (!more) {
            poll.userData = 0;
            boolean failed = result < 0 && result != -Errno.ECANCELED;
            // ECANCELED is the kernel's own: it cancels the polls of a thread that ends.
            if (!failed && (result < 0 || !PollRegistration.isOneShot(poll.armedInterest))) {
                rearm(poll);
            }
            if (failed) {
                // Not rearmed, because it would fail again. A descriptor that was closed without
                // deregistration reports no event on any backend.
                return result == -Errno.EBADF ? 0 : Readiness.ERROR;
            }
        }
        return result > 0 ? result & Readiness.EVENTS : 0;
    }

    boolean isWoken() {
        return woken;
    }

    void clearWoken() {
        woken = false;
    }

    boolean hasReady() {
        return next < readyCount;
    }

    boolean isFull() {
        return readyCount == ready.length && hasReady();
    }

    private boolean addReady(PollRegistration poll, int bits, boolean failed) {
        if (poll.ready != 0) {
            return true;
        }
        if (!hasReady()) {
            next = 0;
            confirmedCount = 0;
            readyCount = 0;
        }
        if (readyCount == ready.length) {
            return false;
        }
        poll.ready = bits;
        ready[readyCount] = poll;
        long pollfd = pollfd(readyCount++);
        int mask = PollRegistration.pollMask(poll.interest());
        // poll(2) would not report the failure of a poll.
        Memory.putInt(pollfd, failed ? SKIPPED : poll.fd);
        Memory.putShort(pollfd + Linux.OFFSETOF_POLLFD_EVENTS, mask);
        Memory.putShort(pollfd + Linux.OFFSETOF_POLLFD_REVENTS, 0);
        return true;
    }

    private long pollfd(int index) {
        return pollfds.address() + (long) index * Linux.SIZEOF_POLLFD;
    }

    /// Drops events added since the last call that no longer hold, and completes the rest. Rearms
    /// dropped one-shot polls, because they were not reported.
    void confirmReady() {
        int from = confirmedCount;
        if (from == readyCount || calls.poll(pollfd(from), readyCount - from) < 0) {
            confirmedCount = readyCount; // poll(2) failed: keep the events of the CQEs.
            return;
        }
        for (int i = from; i < readyCount; i++) {
            PollRegistration poll = ready[i];
            ready[i] = null;
            if (poll == null) {
                continue;
            }
            long pollfd = pollfd(i);
            if (Memory.getInt(pollfd) != SKIPPED) {
                int revents = Memory.getShort(pollfd + Linux.OFFSETOF_POLLFD_REVENTS);
                poll.ready = revents & Readiness.EVENTS;
            }
            if (poll.ready != 0) {
                ready[confirmedCount++] = poll;
            } else if (PollRegistration.isOneShot(poll.interest())) {
                rearm(poll);
            }
        }
        readyCount = confirmedCount;
    }

    /// Dispatches the next event whose descriptor is still registered.
    ///
    /// @return its handler; null if no event is left
    @Nullable ReadinessHandler dispatchNext() {
        while (hasReady()) {
            PollRegistration poll = ready[next];
            ready[next++] = null;
            if (poll != null) {
                int events = poll.ready;
                poll.ready = 0;
                if (!PollRegistration.isRemoved(poll.interest())) {
                    poll.handler.onReady(events);
                    return poll.handler;
                }
            }
        }
        return null;
    }
}
