package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.IORING_CQE_F_MORE;
import static dev.gyre.internal.sys.IoUring.IORING_POLL_ADD_MULTI;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_CQE_FLAGS;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_CQE_RES;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_CQE_USER_DATA;
import static dev.gyre.internal.sys.Linux.EPOLLIN;

import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// What goes into the ring and what comes out of it: polls, operations, and the poll that wakes.
///
/// **Waking.** A multishot poll of the eventfd reports each write, and the eventfd is never read. When
/// the poll is armed anew, old writes are reported once more: what counts is whether a signal is pending.
///
/// The owner's of the ring, and while there is none, of whoever holds the lock.
final class Traffic {
    final Polls polls = new Polls();
    final ReadyPolls ready;
    private final Wakeup wake;
    private @Nullable Flying flying;
    private boolean wakeArmed;
    private boolean woken;

    Traffic(Wakeup wake, UringCalls calls, int eventsPerWait) {
        this.wake = wake;
        ready = new ReadyPolls(calls, eventsPerWait);
    }

    /// Operations are made too, from now on.
    void open(Flying operations) {
        flying = operations;
    }

    /// Whether a signal has come since this was asked last.
    boolean takeWoken() {
        boolean was = woken;
        woken = false;
        return was;
    }

    boolean isWoken() {
        return woken;
    }

    // ------------------------------------------------------------------ in

    /// Writes what is to be told into the ring, as far as there is room.
    void tell(Ring ring, SqeWriter entries, List<PollRegistration> changes) {
        if (!wakeArmed) {
            wakeArmed = entries.poll(UserData.WAKE, wake.fd(), EPOLLIN, IORING_POLL_ADD_MULTI);
        }
        polls.add(changes);
        if (polls.tell(entries) && flying != null) {
            boolean _ = flying.pending().submitPending(ring, entries);
        }
    }

    /// Whether everything is told.
    boolean isTold() {
        return wakeArmed && polls.isTold() && (flying == null || flying.pending().allSubmitted());
    }

    /// Whether more can be submitted once the kernel has consumed the pending submissions: see
    /// [PendingSubmissions].
    boolean hasBufferForStarved() {
        return flying != null && flying.pending().hasBufferForStarved();
    }

    /// How many operations the kernel has.
    int inKernel() {
        return flying == null ? 0 : flying.inKernel();
    }

    /// Asks for all operations that the kernel has, as far as there is room.
    void recall(SqeWriter entries) {
        if (flying != null) {
            boolean _ = flying.pending().cancelInFlight(entries);
        }
    }

    /// They have not come: the next recall asks once more.
    void askAgain() {
        if (flying != null) {
            flying.pending().forgetCancels();
        }
    }

    // ------------------------------------------------------------------ out

    /// Takes the completions that are there, until there is no room for what polls report.
    void collect(Ring ring) {
        for (int left = ring.available(); left > 0 && !ready.isFull(); left--) {
            take(ring, true);
        }
        ring.release();
        ready.confirm(polls);
    }

    /// Drains all completions when no tick follows to dispatch events. Completed polls are rearmed
    /// and report the state at that time.
    void collectOperations(Ring ring) {
        while (ring.available() > 0) {
            take(ring, false);
            ring.release();
        }
    }

    private void take(Ring ring, boolean dispatches) {
        long completion = ring.first();
        long token = Memory.getLong(completion + OFFSETOF_IO_URING_CQE_USER_DATA);
        int result = Memory.getInt(completion + OFFSETOF_IO_URING_CQE_RES);
        int flags = Memory.getInt(completion + OFFSETOF_IO_URING_CQE_FLAGS);
        ring.next();
        if (UserData.isPoll(token)) {
            polled(token, result, flags, dispatches);
        } else if (UserData.isOperation(token)) {
            if (flying != null) {
                flying.completed(token, result, flags);
            }
        } else if (token == UserData.WAKE) {
            signalled(flags);
        }
    }

    private void polled(long token, int result, int flags, boolean dispatches) {
        PollRegistration poll = polls.find(token);
        if (poll == null) {
            return;
        }
        int bits = polls.completed(poll, result, flags);
        if (bits != 0 && !(dispatches && ready.add(poll, bits, result < 0))) {
            polls.again(poll);
        }
    }

    private void signalled(int flags) {
        if ((flags & IORING_CQE_F_MORE) == 0) {
            wakeArmed = false;
        }
        if (wake.isPending()) {
            wake.drained();
            woken = true;
        }
    }

    /// The ring is gone. Polls are asked for anew with the next one; operations it still had are over.
    void lost() {
        wakeArmed = false;
        polls.lost();
        if (flying != null) {
            flying.lost();
        }
    }
}
