package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.IORING_ENTER_EXT_ARG;
import static dev.gyre.internal.sys.IoUring.IORING_ENTER_GETEVENTS;
import static dev.gyre.internal.sys.IoUring.IORING_ENTER_REGISTERED_RING;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_NO_SQARRAY;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_TASKRUN_FLAG;
import static dev.gyre.internal.sys.IoUring.IORING_SQ_CQ_OVERFLOW;
import static dev.gyre.internal.sys.IoUring.IORING_SQ_TASKRUN;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.IoUring;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.UringCalls;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// A ring: submissions go in, completions come out.
///
/// Both queues are rings in memory that the kernel shares. Their indices only grow, and wrap around; the
/// position is what the mask leaves of them. Each index has one writer, who releases it after what it
/// covers, and one reader, who acquires it before.
///
/// Belongs to the thread that enabled it: the kernel refuses all others. Only [#close()] may be called
/// by another one, when that thread is through.
final class Ring {
    /// After this many calls a ring's descriptor is registered, which spares the kernel the look-up.
    /// Not at once: a thread that runs the loop for a moment would pay more than it gains.
    private static final int CALLS_BEFORE_REGISTERING = 1_024;

    private static final int REGISTERING_REFUSED = -1;

    private final UringCalls calls;
    private final PollSyscalls kernel;
    private final RingMemory memory;
    private final long submissionHead;
    private final long submissionTail;
    private final long submissionFlags;
    private final long completionHead;
    private final long completionTail;
    private final long completions;
    private final int submissionEntries;
    private final int completionMask;

    // The loop thread only.
    private final MemorySegment argument =
            Memory.allocate(
                    IoUring.SIZEOF_IO_URING_GETEVENTS_ARG
                            + IoUring.SIZEOF_IO_URING_RSRC_UPDATE
                            + Linux.SIZEOF_TIMESPEC);
    private final long timespec;
    private final long update;
    private int tail;
    private int head;
    private int enterFd;
    private int enterFlags;
    private int callsUntilRegistered = CALLS_BEFORE_REGISTERING;

    private Ring(UringCalls calls, PollSyscalls kernel, RingMemory memory) {
        this.calls = calls;
        this.kernel = kernel;
        this.memory = memory;
        long rings = memory.rings().address();
        submissionHead = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_SQ_HEAD);
        submissionTail = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_SQ_TAIL);
        submissionFlags = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_SQ_FLAGS);
        completionHead = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_CQ_HEAD);
        completionTail = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_CQ_TAIL);
        completions = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_CQ_CQES);
        submissionEntries = memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES);
        completionMask = memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES) - 1;
        timespec = argument.address() + IoUring.SIZEOF_IO_URING_GETEVENTS_ARG;
        update = timespec + Linux.SIZEOF_TIMESPEC;
        Memory.putLong(argument.address() + IoUring.OFFSETOF_IO_URING_GETEVENTS_ARG_TS, timespec);
        enterFd = memory.fd();
        if (!memory.has(IORING_SETUP_NO_SQARRAY)) {
            long array = rings + memory.param(IoUring.OFFSETOF_IO_URING_PARAMS_SQ_ARRAY);
            for (int i = 0; i < submissionEntries; i++) {
                Memory.putInt(array + (long) i * Integer.BYTES, i);
            }
        }
    }

    /// Sets a ring up. Any thread; the one that uses it has to [#enable()] it.
    ///
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    static Ring open(UringCalls calls, PollSyscalls kernel, int submissions, int completions) {
        RingMemory memory = RingMemory.open(calls, kernel, submissions, completions);
        try {
            return new Ring(calls, kernel, memory);
        } catch (Throwable e) {
            memory.close(calls, kernel);
            throw e;
        }
    }

    /// Makes the ring the calling thread's own.
    void enable() {
        int result = calls.register(memory.fd(), IoUring.IORING_REGISTER_ENABLE_RINGS, 0, 0);
        if (result < 0) {
            throw new SystemCallException("io_uring_register(ENABLE_RINGS)", -result, memory.fd());
        }
    }

    boolean has(int setupFlag) {
        return memory.has(setupFlag);
    }

    boolean hasFeature(int feature) {
        return memory.hasFeature(feature);
    }

    /// A bit for each operation that the kernel has.
    long opcodes() {
        return memory.opcodes();
    }

    // ------------------------------------------------------------------ submitting

    /// Room for the next submission, zeroed. If the queue is full the kernel is asked to empty it first.
    ///
    /// @return its address, or zero if the kernel takes nothing at present
    long nextSubmission() {
        if (unsubmitted() == submissionEntries) {
            int _ = enter(submittable(), 0, 0, 0);
            if (unsubmitted() == submissionEntries) {
                return 0;
            }
        }
        long address =
                memory.entries().address()
                        + (long) (tail & (submissionEntries - 1)) * IoUring.SIZEOF_IO_URING_SQE;
        for (int i = 0; i < IoUring.SIZEOF_IO_URING_SQE; i += Long.BYTES) {
            Memory.putLong(address + i, 0);
        }
        tail++;
        return address;
    }

    private int unsubmitted() {
        // Acquire: pairs with the kernel's release after it has read the entries.
        return tail - Memory.getIntAcquire(submissionHead);
    }

    // ------------------------------------------------------------------ entering the kernel

    /// Submits, and has what is ready completed. Without a call if that would change nothing.
    ///
    /// @return zero or more, or `-errno`
    int look() {
        return isUpToDate() ? 0 : enter(submittable(), 0, IORING_ENTER_GETEVENTS, 0);
    }

    private boolean isUpToDate() {
        int flags = Memory.getIntAcquire(submissionFlags);
        return memory.has(IORING_SETUP_TASKRUN_FLAG)
                && (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) == 0
                && unsubmitted() == 0;
    }

    /// Submits, and waits for a completion, but not longer than this.
    ///
    /// @return zero or more, or `-errno`, of which ETIME means that the time is over
    int await(long nanos) {
        return enter(submittable(), 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, nanos);
    }

    /// The same without submitting, for when the kernel has just refused to.
    int awaitOnly(long nanos) {
        return enter(0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, nanos);
    }

    private int submittable() {
        // Release: pairs with the kernel's acquire before it reads the entries.
        Memory.putIntRelease(submissionTail, tail);
        return unsubmitted();
    }

    private int enter(int toSubmit, int least, int flags, long nanos) {
        if (callsUntilRegistered > 0 && --callsUntilRegistered == 0) {
            registerDescriptor();
        }
        if ((flags & IORING_ENTER_EXT_ARG) == 0) {
            return calls.enter(enterFd, toSubmit, least, flags | enterFlags, 0, 0);
        }
        Memory.putLong(timespec, nanos / 1_000_000_000L);
        Memory.putLong(timespec + Linux.OFFSETOF_TIMESPEC_NANOS, nanos % 1_000_000_000L);
        return calls.enter(
                enterFd,
                toSubmit,
                least,
                flags | enterFlags,
                argument.address(),
                IoUring.SIZEOF_IO_URING_GETEVENTS_ARG);
    }

    private void registerDescriptor() {
        Memory.putInt(update, -1); // Any slot.
        Memory.putLong(update + IoUring.OFFSETOF_IO_URING_RSRC_UPDATE_DATA, memory.fd());
        int result = calls.register(memory.fd(), IoUring.IORING_REGISTER_RING_FDS, update, 1);
        if (result == 1) {
            enterFd = Memory.getInt(update);
            enterFlags = IORING_ENTER_REGISTERED_RING;
        } else {
            callsUntilRegistered = REGISTERING_REFUSED; // Before 5.18, or no slot is free.
        }
    }

    /// The thread is about to do other things, for ever perhaps: the slot would keep the ring alive for as
    /// long as the thread lives, whoever closes it.
    void unregisterDescriptor() {
        if (enterFlags == 0) {
            return;
        }
        Memory.putInt(update, enterFd);
        Memory.putLong(update + IoUring.OFFSETOF_IO_URING_RSRC_UPDATE_DATA, 0);
        int _ = calls.register(memory.fd(), IoUring.IORING_UNREGISTER_RING_FDS, update, 1);
        enterFd = memory.fd();
        enterFlags = 0;
        callsUntilRegistered = CALLS_BEFORE_REGISTERING;
    }

    /// Gives the kernel a ring of buffers to choose from.
    ///
    /// @return zero or `-errno`
    int registerBuffers(long entriesAddress, int count, int group) {
        MemorySegment registration = Memory.allocate(IoUring.SIZEOF_IO_URING_BUF_REG);
        long address = registration.address();
        Memory.putLong(address, entriesAddress);
        Memory.putInt(address + IoUring.OFFSETOF_IO_URING_BUF_REG_ENTRIES, count);
        Memory.putShort(address + IoUring.OFFSETOF_IO_URING_BUF_REG_BGID, group);
        try {
            return calls.register(memory.fd(), IoUring.IORING_REGISTER_PBUF_RING, address, 1);
        } finally {
            Reference.reachabilityFence(registration);
        }
    }

    // ------------------------------------------------------------------ completions

    /// How many completions can be looked at.
    int available() {
        // Acquire: pairs with the kernel's release after it has written the completions.
        return Memory.getIntAcquire(completionTail) - head;
    }

    /// The address of the first one.
    long first() {
        return completions + (long) (head & completionMask) * IoUring.SIZEOF_IO_URING_CQE;
    }

    /// Gives the first one back to the kernel, but not before [#release()].
    void next() {
        head++;
    }

    /// Lets the kernel have the room of those that were taken.
    void release() {
        // Release: pairs with the kernel's acquire before it writes there again.
        Memory.putIntRelease(completionHead, head);
    }

    void close() {
        memory.close(calls, kernel);
    }

    /// Whether the kernel merely has no room at present, and will again when completions are taken or
    /// memory is given back.
    static boolean isCongested(int result) {
        return result == -Errno.EAGAIN || result == -Errno.EBUSY;
    }

    int fd() {
        return memory.fd();
    }
}
