package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// A submission queue, a completion queue, and the thread that owns them.
///
/// Both queues are ring buffers in memory shared with the kernel. Their indices only grow, and wrap
/// around; a mask turns them into positions. Each index has one writer, which releases it after the
/// entries that it covers, and one reader, which acquires it before them.
///
/// **Ownership.** The kernel accepts calls only from the thread that enabled the ring. A loop can
/// be run by one thread and later by another, and be opened and closed by a third. A thread that
/// runs the loop closes a ring that another thread enabled, and opens a new one. Between two runs
/// the ring has no owner. Then the holder of [#lock] may close it, or use it if that thread enabled
/// it.
///
/// Confined to the owner, unless stated otherwise; guarded by the lock while unowned.
final class Ring {
    /// After this many calls the descriptor is registered, which saves the kernel a lookup per
    /// call. Threads that run the loop only briefly would pay more than they gain.
    private static final int CALLS_BEFORE_REGISTRATION = 1_024;

    private static final int REGISTRATION_REFUSED = -1;

    private final UringCalls calls;
    private final PollCalls kernel;
    private final int requestedSqEntries;
    private final int requestedCqEntries;

    /// Guards changes of the owner.
    final Object lock = new Object();

    private @Nullable RingMemory memory;
    private @Nullable Thread enabledBy;

    // Shared: written under the lock, read by any thread.
    private volatile @Nullable Thread owner;

    /// `io_uring_getevents_arg`, then its timespec, then `io_uring_rsrc_update`.
    private final MemorySegment argument =
            Memory.allocate(
                    IoUringAbi.SIZEOF_IO_URING_GETEVENTS_ARG
                            + Linux.SIZEOF_TIMESPEC
                            + IoUringAbi.SIZEOF_IO_URING_RSRC_UPDATE);

    private final long timespec = argument.address() + IoUringAbi.SIZEOF_IO_URING_GETEVENTS_ARG;
    private final long update = timespec + Linux.SIZEOF_TIMESPEC;
    private int sqTail;
    private int cqHead;
    private int enterFd;
    private int enterFlags;
    private int callsUntilRegistration;

    /// Opens a ring without an owner.
    ///
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    Ring(UringCalls calls, PollCalls kernel, int sqEntries, int cqEntries) {
        this.calls = calls;
        this.kernel = kernel;
        requestedSqEntries = sqEntries;
        requestedCqEntries = cqEntries;
        Memory.putLong(
                argument.address() + IoUringAbi.OFFSETOF_IO_URING_GETEVENTS_ARG_TS, timespec);
        open();
    }

    private void open() {
        RingMemory opened = RingMemory.open(calls, kernel, requestedSqEntries, requestedCqEntries);
        memory = opened;
        sqTail = 0;
        cqHead = 0;
        enterFd = opened.fd;
        enterFlags = 0;
        callsUntilRegistration = CALLS_BEFORE_REGISTRATION;
    }

    private RingMemory memory() {
        RingMemory current = memory;
        assert current != null : "the ring is closed";
        return current;
    }

    int fd() {
        return memory().fd;
    }

    /// Returns the supported opcodes. Bit n is set for opcode n.
    long opcodes() {
        return memory().opcodes;
    }

    boolean hasFeature(int feature) {
        return (memory().features & feature) != 0;
    }

    /// Returns whether the calling thread is the owner. Any thread, without the lock.
    boolean isOwner() {
        return isCurrent(owner);
    }

    boolean isUnowned() {
        return owner == null;
    }

    boolean isOpen() {
        return memory != null;
    }

    /// Returns whether the kernel accepts calls from the calling thread.
    boolean isEnabledHere() {
        return isCurrent(enabledBy);
    }

    /// Returns whether the kernel accepts calls only from another thread.
    boolean isEnabledElsewhere() {
        return enabledBy != null && !isCurrent(enabledBy);
    }

    /// Makes the calling thread the owner, and opens a ring if it is closed. Requires the lock.
    ///
    /// @throws SystemCallException if the kernel refuses; a later call may succeed
    void acquire() {
        assert !isEnabledElsewhere() : "enabled by " + enabledBy;
        if (memory == null) {
            open();
        }
        if (enabledBy == null) {
            int result = calls.register(fd(), IoUringAbi.IORING_REGISTER_ENABLE_RINGS, 0, 0);
            if (result < 0) {
                throw new SystemCallException("io_uring_register(ENABLE_RINGS)", -result, fd());
            }
            enabledBy = Thread.currentThread();
        }
        owner = Thread.currentThread();
    }

    /// Ends the ownership, and leaves the ring open. Requires the lock.
    void release() {
        unregisterDescriptor();
        owner = null;
    }

    /// Closes the ring with everything in flight. Requires the lock.
    void close() {
        RingMemory closing = memory;
        if (closing == null) {
            return;
        }
        if (isEnabledHere()) {
            unregisterDescriptor();
        }
        memory = null;
        enabledBy = null;
        owner = null;
        closing.close(calls, kernel);
    }

    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    private static boolean isCurrent(@Nullable Thread thread) {
        return thread == Thread.currentThread();
    }

    /// Appends a zeroed SQE. If the queue is full, submits it first.
    ///
    /// @return its address, or 0 if the kernel accepts no SQEs at present
    long nextSqe() {
        RingMemory shared = memory();
        if (sqReady(shared) == shared.sqEntries) {
            int _ = enter(publishSqes(), 0, 0, 0);
            if (sqReady(shared) == shared.sqEntries) {
                return 0;
            }
        }
        int position = sqTail & (shared.sqEntries - 1);
        long address = shared.sqes + (long) position * IoUringAbi.SIZEOF_IO_URING_SQE;
        for (int i = 0; i < IoUringAbi.SIZEOF_IO_URING_SQE; i += Long.BYTES) {
            Memory.putLong(address + i, 0);
        }
        sqTail++;
        return address;
    }

    private int sqReady(RingMemory shared) {
        // Acquire: pairs with the kernel's release after it has read the SQEs.
        return sqTail - Memory.getIntAcquire(shared.sqHead);
    }

    private int publishSqes() {
        RingMemory shared = memory();
        // Release: pairs with the kernel's acquire before it reads the SQEs.
        Memory.putIntRelease(shared.sqTail, sqTail);
        return sqReady(shared);
    }

    /// Submits all SQEs and posts CQEs that are due, without blocking. Makes no call if the kernel
    /// has nothing to do.
    ///
    /// @return zero or more, or `-errno`
    int enterNonBlocking() {
        RingMemory shared = memory();
        int flags = Memory.getIntAcquire(shared.sqFlags);
        if ((shared.flags & IoUringAbi.IORING_SETUP_TASKRUN_FLAG) != 0
                && (flags & (IoUringAbi.IORING_SQ_TASKRUN | IoUringAbi.IORING_SQ_CQ_OVERFLOW)) == 0
                && sqReady(shared) == 0) {
            return 0;
        }
        return enter(publishSqes(), 0, IoUringAbi.IORING_ENTER_GETEVENTS, 0);
    }

    /// Submits all SQEs and waits for a CQE.
    ///
    /// @return zero or more, or `-errno`; `-ETIME` after the timeout
    int enterAndWait(long timeoutNanos) {
        int flags = IoUringAbi.IORING_ENTER_GETEVENTS | IoUringAbi.IORING_ENTER_EXT_ARG;
        return enter(publishSqes(), 1, flags, timeoutNanos);
    }

    /// Waits for a CQE without submitting, after the kernel has refused SQEs.
    int waitWithoutSubmitting(long timeoutNanos) {
        return enter(
                0,
                1,
                IoUringAbi.IORING_ENTER_GETEVENTS | IoUringAbi.IORING_ENTER_EXT_ARG,
                timeoutNanos);
    }

    private int enter(int toSubmit, int minComplete, int flags, long timeoutNanos) {
        if (callsUntilRegistration > 0 && --callsUntilRegistration == 0) {
            registerDescriptor();
        }
        if ((flags & IoUringAbi.IORING_ENTER_EXT_ARG) == 0) {
            return calls.enter(enterFd, toSubmit, minComplete, flags | enterFlags, 0, 0);
        }
        Memory.putLong(timespec, timeoutNanos / 1_000_000_000L);
        Memory.putLong(timespec + Linux.OFFSETOF_TIMESPEC_NANOS, timeoutNanos % 1_000_000_000L);
        return calls.enter(
                enterFd,
                toSubmit,
                minComplete,
                flags | enterFlags,
                argument.address(),
                IoUringAbi.SIZEOF_IO_URING_GETEVENTS_ARG);
    }

    /// Returns whether the kernel lacks room at present, and will have some once CQEs are consumed
    /// or memory is freed.
    static boolean isCongested(int result) {
        return result == -Errno.EAGAIN || result == -Errno.EBUSY;
    }

    private void registerDescriptor() {
        Memory.putInt(update, -1); // Any slot.
        Memory.putLong(update + IoUringAbi.OFFSETOF_IO_URING_RSRC_UPDATE_DATA, fd());
        int result = calls.register(fd(), IoUringAbi.IORING_REGISTER_RING_FDS, update, 1);
        if (result == 1) {
            enterFd = Memory.getInt(update);
            enterFlags = IoUringAbi.IORING_ENTER_REGISTERED_RING;
        } else {
            callsUntilRegistration = REGISTRATION_REFUSED; // Before 5.18, or no slot is free.
        }
    }

    /// A registered descriptor would keep the ring alive for as long as the thread lives, even
    /// after a close by another thread.
    private void unregisterDescriptor() {
        if (enterFlags == 0) {
            return;
        }
        Memory.putInt(update, enterFd);
        Memory.putLong(update + IoUringAbi.OFFSETOF_IO_URING_RSRC_UPDATE_DATA, 0);
        int _ = calls.register(fd(), IoUringAbi.IORING_UNREGISTER_RING_FDS, update, 1);
        enterFd = fd();
        enterFlags = 0;
        callsUntilRegistration = CALLS_BEFORE_REGISTRATION;
    }

    /// Registers a provided buffer ring.
    ///
    /// @return zero or `-errno`
    int registerBufferRing(long address, int entries, int group) {
        MemorySegment registration = Memory.allocate(IoUringAbi.SIZEOF_IO_URING_BUF_REG);
        long arg = registration.address();
        Memory.putLong(arg, address);
        Memory.putInt(arg + IoUringAbi.OFFSETOF_IO_URING_BUF_REG_ENTRIES, entries);
        Memory.putShort(arg + IoUringAbi.OFFSETOF_IO_URING_BUF_REG_BGID, group);
        try {
            return calls.register(fd(), IoUringAbi.IORING_REGISTER_PBUF_RING, arg, 1);
        } finally {
            Reference.reachabilityFence(registration);
        }
    }

    int cqReady() {
        // Acquire: pairs with the kernel's release after it has written the CQEs.
        return Memory.getIntAcquire(memory().cqTail) - cqHead;
    }

    long cqeUserData() {
        return Memory.getLong(cqe() + IoUringAbi.OFFSETOF_IO_URING_CQE_USER_DATA);
    }

    int cqeResult() {
        return Memory.getInt(cqe() + IoUringAbi.OFFSETOF_IO_URING_CQE_RES);
    }

    int cqeFlags() {
        return Memory.getInt(cqe() + IoUringAbi.OFFSETOF_IO_URING_CQE_FLAGS);
    }

    private long cqe() {
        RingMemory shared = memory();
        return shared.cqes + (long) (cqHead & shared.cqMask) * IoUringAbi.SIZEOF_IO_URING_CQE;
    }

    void advanceCq() {
        cqHead++;
    }

    /// Returns the room of all CQEs passed by [#advanceCq()] to the kernel.
    void releaseCqes() {
        // Release: pairs with the kernel's acquire before it writes there again.
        Memory.putIntRelease(memory().cqHead, cqHead);
    }
}
