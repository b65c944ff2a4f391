package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.IORING_CQE_F_MORE;
import static dev.gyre.internal.sys.IoUring.IORING_POLL_ADD_MULTI;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.sys.Errno;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;

/// The polls that are in flight, and those that should be.
///
/// Each poll in flight carries its slot and a generation that is new with every request. So what comes
/// for one that was cancelled or replaced finds nobody, however late.
///
/// Three ways to ask, for three ways to watch. Edges are one multishot poll, which goes on by itself. One
/// shot is one poll. What lasts is one poll too, asked for anew before the next wait, by when its
/// callbacks have run: the kernel looks at once, and reports what is still so. It costs an entry in the
/// queue, and no call. (The kernel's own level-triggered multishot only looks when something happens.)
///
/// Loop thread only.
final class Polls {
    private static final long GENERATIONS = 1L << 30;

    private @Nullable PollRegistration[] slots = new @Nullable PollRegistration[64];
    private int[] free = new int[64];
    private int freeCount;
    private int slotsUsed;
    private long generation;

    /// Those that the kernel has to be told about.
    private final ArrayDeque<PollRegistration> due = new ArrayDeque<>();

    /// Takes changes over. The kernel hears of them with [#tell].
    void add(List<PollRegistration> changes) {
        for (int i = 0; i < changes.size(); i++) {
            due.add(changes.get(i));
        }
    }

    boolean isTold() {
        return due.isEmpty();
    }

    /// Writes what the kernel is to do into the ring.
    ///
    /// @return false if the ring has no room at present; the rest is left for later
    boolean tell(SqeWriter entries) {
        for (PollRegistration poll = due.peek(); poll != null; poll = due.peek()) {
            if (!tell(entries, poll)) {
                return false;
            }
            due.remove();
        }
        return true;
    }

    /// The same for one of them, which need not be among those that are due.
    boolean tell(SqeWriter entries, PollRegistration poll) {
        long wanted = poll.wanted();
        if (poll.armedFor == wanted) {
            return true;
        }
        if (poll.armedAs != 0) {
            if (!entries.cancel(poll.armedAs)) {
                return false;
            }
            poll.armedAs = 0;
            poll.armedFor = PollRegistration.NOTHING;
        }
        if (PollRegistration.isEmpty(wanted)) {
            if (PollRegistration.isRemoved(wanted)) {
                freeSlot(poll);
            }
        } else if (!arm(entries, poll, wanted)) {
            return false;
        }
        poll.armedFor = wanted;
        return true;
    }

    private boolean arm(SqeWriter entries, PollRegistration poll, long wanted) {
        if (poll.slot < 0) {
            takeSlot(poll);
        }
        generation = (generation + 1) % GENERATIONS;
        long token = UserData.poll(poll.slot, (int) generation);
        int flags = PollRegistration.isMultishot(wanted) ? IORING_POLL_ADD_MULTI : 0;
        if (!entries.poll(token, poll.fd, PollRegistration.kernelBits(wanted), flags)) {
            return false;
        }
        poll.armedAs = token;
        return true;
    }

    /// The poll that a completion belongs to, or null if it was cancelled or replaced.
    @Nullable PollRegistration find(long token) {
        int slot = UserData.slot(token);
        PollRegistration poll = slot < slots.length ? slots[slot] : null;
        return poll != null && poll.armedAs == token ? poll : null;
    }

    /// Takes a completion of this poll.
    ///
    /// @return the bits of [Ready] that it brings; zero if it brings nothing
    int completed(PollRegistration poll, int result, int flags) {
        if ((flags & IORING_CQE_F_MORE) == 0) {
            poll.armedAs = 0;
            boolean failed = result < 0 && result != -Errno.ECANCELED;
            // Cancelled, and not by us: the kernel does so when a thread ends.
            if (result == -Errno.ECANCELED
                    || (!failed && !PollRegistration.isOneShot(poll.armedFor))) {
                poll.armedFor = PollRegistration.NOTHING;
                due.add(poll);
            }
            if (failed) {
                // Once, and not again: it would be refused for ever. Of what was closed behind our
                // back nobody hears any more, on any backend.
                return result == -Errno.EBADF ? 0 : Readiness.ERROR;
            }
        }
        return result > 0 ? result & Readiness.EVENTS : 0;
    }

    /// Nobody could take what it brought: it is asked for anew, and reports what is still so.
    void again(PollRegistration poll) {
        poll.armedFor = PollRegistration.NOTHING;
        due.add(poll);
    }

    /// The ring is gone, and with it all that was in flight.
    void lost() {
        for (int i = 0; i < slotsUsed; i++) {
            PollRegistration poll = slots[i];
            if (poll != null && poll.armedAs != 0) {
                poll.armedAs = 0;
                poll.armedFor = PollRegistration.NOTHING;
                due.add(poll);
            }
        }
    }

    private void takeSlot(PollRegistration poll) {
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
}
