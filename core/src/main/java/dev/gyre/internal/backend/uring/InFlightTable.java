package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.SyscallExecutor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;

/// The operations that are pending or in the kernel, in slots. A slot is free again after the last
/// CQE of its request, so a late CQE never reaches a later request. The generation in `user_data`
/// verifies that.
///
/// SQEs are written in one batch before each wait: cancellations, then receives that wait for a
/// buffer, then the rest. Earlier, another thread may own the ring, or the ring may be replaced.
///
/// **Fairness.** All receives share one provided buffer ring. A multishot consumes buffers until
/// its socket is drained. Three rules keep a bulk sender from starving the others:
///
/// - A receive is multishot only after one that left room in its buffer, which means that the
///   socket was drained. While a peer sends faster than it is read, each SQE consumes one buffer.
/// - A multishot that is more than `maxHeld` results ahead of its owner is cancelled, and submitted
///   again as a single receive.
/// - Receives that found no buffer wait in a first-in, first-out queue. As many as there are
///   buffers available are submitted before other operations, each as a single receive. While
///   others wait there, a receive that is submitted again joins the end of the queue.
///
/// Loop thread only.
final class InFlightTable {
    /// In place of a result: the operation is pending, in the kernel, or waits for its owner.
    static final long NO_RESULT = SyscallExecutor.WOULD_BLOCK;

    private final SqeWriter sqes;
    private final KernelFeatures features;
    private final ReceiveBuffers buffers;
    private final ProvidedBufferRing bufferRing;
    private final int maxHeld;

    private InFlightOp[] ops = {};
    private int[] free = {};
    private int freeCount;
    private int generation;
    private int inKernel;

    private final ArrayDeque<InFlightOp> waiting = new ArrayDeque<>();

    /// Receives that wait for a buffer.
    private final ArrayDeque<InFlightOp> starved = new ArrayDeque<>();

    /// Operations whose SQE in the kernel has to be cancelled.
    private final ArrayDeque<InFlightOp> cancels = new ArrayDeque<>();

    InFlightTable(
            SqeWriter sqes,
            KernelFeatures features,
            ReceiveBuffers buffers,
            ProvidedBufferRing bufferRing) {
        this.sqes = sqes;
        this.features = features;
        this.buffers = buffers;
        this.bufferRing = bufferRing;
        maxHeld = Math.max(1, buffers.count() / 32);
    }

    int slots() {
        return ops.length;
    }

    InFlightOp at(int slot) {
        return ops[slot];
    }

    int inKernel() {
        return inKernel;
    }

    InFlightOp acquire(Request request) {
        if (freeCount == 0) {
            grow();
        }
        InFlightOp op = ops[free[--freeCount]];
        op.begin(request);
        return op;
    }

    private void grow() {
        int size = ops.length;
        int larger = Math.max(16, size + size / 2);
        InFlightOp[] grown = Arrays.copyOf(ops, larger);
        int[] unused = new int[larger];
        int count = 0;
        for (int slot = larger - 1; slot >= size; slot--) {
            grown[slot] = new InFlightOp(slot);
            unused[count++] = slot;
        }
        ops = grown; // After every allocation: OutOfMemoryError must leave the table unchanged.
        free = unused;
        freeCount = count;
    }

    void release(InFlightOp op) {
        op.request().slot = -1;
        op.request = null;
        free[freeCount++] = op.slot;
    }

    /// Returns the operation of a CQE; null if the CQE is from a closed ring.
    @Nullable InFlightOp find(long userData) {
        int slot = UserData.slot(userData);
        InFlightOp op = slot < ops.length ? ops[slot] : null;
        return op != null && op.inKernel && op.userData == userData ? op : null;
    }

    void onReturned(InFlightOp op) {
        op.inKernel = false;
        inKernel--;
    }

    /// Enqueues an operation for the next batch. A receive waits for a buffer if others do.
    ///
    /// @return [#NO_RESULT], or `-ECANCELED` if it was cancelled meanwhile
    long enqueue(InFlightOp op) {
        op.pollFirst |= isBehindUrgent(op.request());
        return enqueueReady(op);
    }

    /// Enqueues an operation that does not have to poll first.
    long enqueueReady(InFlightOp op) {
        boolean starves = op.request().opcode == Opcode.RECEIVE && !starved.isEmpty();
        return add(op, starves ? starved : waiting);
    }

    long enqueueStarved(InFlightOp op) {
        return add(op, starved);
    }

    private static long add(InFlightOp op, ArrayDeque<InFlightOp> queue) {
        if (op.request().cancelRequested) {
            return -Errno.ECANCELED;
        }
        if (op.pendingIn == null) {
            queue.add(op);
            op.pendingIn = queue;
        }
        return NO_RESULT;
    }

    /// Cancels an operation.
    ///
    /// @return `-ECANCELED`, or [#NO_RESULT] if the kernel or the owner has to end it
    long cancel(InFlightOp op) {
        Request request = op.request();
        if (op.inKernel && !request.cancelRequested) {
            cancels.add(op);
        }
        request.cancelRequested = true;
        ArrayDeque<InFlightOp> queue = op.pendingIn;
        if (queue == null) {
            return NO_RESULT;
        }
        queue.remove(op);
        op.pendingIn = null;
        return -Errno.ECANCELED;
    }

    /// Cancels an operation in the kernel to submit it again later, in another form.
    void pause(InFlightOp op) {
        if (!op.paused) {
            op.paused = true;
            cancels.add(op);
        }
    }

    void pauseIfAhead(InFlightOp op) {
        if (op.inKernel && op.heldCount() >= maxHeld) {
            pause(op);
        }
    }

    /// Pauses a read that the kernel would complete before urgent data is read.
    void pauseRead(DescriptorState descriptor) {
        Request read = descriptor.serving(Kind.READ);
        if (read != null && read.slot >= 0) {
            InFlightOp op = ops[read.slot];
            if (op.inKernel && !op.polling) {
                pause(op);
            }
        }
    }

    /// Returns whether a request reads from a descriptor with a pending request for urgent data.
    /// The kernel drops an urgent byte that is read past. So such a read polls for readiness, and
    /// is submitted only once no urgent data is pending: clause O-2.
    static boolean isBehindUrgent(Request request) {
        DescriptorState descriptor = request.descriptor;
        return request.opcode.kind == Kind.READ
                && descriptor != null
                && descriptor.serving(Kind.URGENT) != null;
    }

    void clearPending() {
        waiting.forEach(op -> op.pendingIn = null);
        waiting.clear();
        starved.forEach(op -> op.pendingIn = null);
        starved.clear();
        cancels.clear();
    }

    /// Returns whether nothing is left that can be submitted now.
    boolean allSubmitted() {
        return waiting.isEmpty() && cancels.isEmpty() && !hasBufferForStarved();
    }

    boolean hasBufferForStarved() {
        return !starved.isEmpty() && buffers.available() > 0;
    }

    /// Writes SQEs for everything that can be submitted. If the submission queue has no room, the
    /// rest stays pending.
    void submitPending() {
        for (InFlightOp op = cancels.peek(); op != null; op = cancels.peek()) {
            if (!submitCancel(op)) {
                return;
            }
            cancels.remove();
        }
        // At most one per buffer: the rest would fail. The kernel processes SQEs in order, and
        // before operations in flight, so each of these finds its buffer.
        for (int left = Math.min(starved.size(), buffers.available()); left > 0; left--) {
            starved.element().drained = false;
            if (!submitFirst(starved)) {
                return;
            }
        }
        while (!waiting.isEmpty()) {
            if (!submitFirst(waiting)) {
                return;
            }
        }
    }

    /// Cancels an operation in the kernel, once: a second cancellation has no effect.
    private boolean submitCancel(InFlightOp op) {
        if (!op.inKernel || op.cancelSubmitted) {
            return true;
        }
        op.cancelSubmitted = sqes.cancel(op.userData);
        return op.cancelSubmitted;
    }

    private boolean submitFirst(ArrayDeque<InFlightOp> queue) {
        InFlightOp op = queue.element();
        if (!write(op)) {
            return false;
        }
        queue.remove();
        op.pendingIn = null;
        return true;
    }

    /// Writes the SQE of an operation: the operation itself, or a poll before it.
    private boolean write(InFlightOp op) {
        Request request = op.request();
        if (request.opcode == Opcode.RECEIVE) {
            bufferRing.register(); // First: a refusal makes the operation emulated.
        }
        generation = UserData.nextGeneration(generation);
        long userData = UserData.operation(op.slot, generation);
        boolean poll = op.pollFirst || features.isEmulated(request);
        boolean multishot = !poll && isMultishot(op);
        boolean written =
                poll
                        ? sqes.poll(userData, request.fd, pollMask(request.opcode.kind), 0)
                        : sqes.operation(userData, request, multishot);
        if (written) {
            op.userData = userData;
            op.polling = poll;
            op.multishot = multishot;
            op.pollFirst = false;
            op.cancelSubmitted = false;
            op.inKernel = true;
            inKernel++;
        }
        return written;
    }

    private boolean isMultishot(InFlightOp op) {
        Request request = op.request();
        return request.multishot
                && !op.singleShot
                && features.supportsMultishot(request.opcode)
                && (request.opcode == Opcode.ACCEPT
                        ? request.address == 0
                        : op.drained && !isBehindUrgent(request) && SqeWriter.isSocket(request));
    }

    private static int pollMask(Kind kind) {
        return switch (kind) {
            case URGENT -> Linux.EPOLLPRI;
            case READ -> Linux.EPOLLIN;
            case WRITE -> Linux.EPOLLOUT;
            case END -> Linux.EPOLLRDHUP;
            case FILE -> throw new AssertionError("files are not polled");
        };
    }

    /// Cancels everything in the kernel. Each operation completes with its result, or is submitted
    /// again.
    ///
    /// @param again whether cancellations that had no effect are repeated
    void cancelInFlight(boolean again) {
        for (InFlightOp op : ops) {
            op.cancelSubmitted &= !again;
            if (!submitCancel(op)) {
                return;
            }
        }
    }
}
