package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.backend.uring.InFlightTable.NO_RESULT;
import static dev.gyre.internal.sys.IoUringAbi.IORING_CQE_BUFFER_SHIFT;
import static dev.gyre.internal.sys.IoUringAbi.IORING_CQE_F_BUFFER;
import static dev.gyre.internal.sys.IoUringAbi.IORING_CQE_F_MORE;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.SyscallExecutor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SyscallFactories;

/// Turns the CQEs of operations into results. An operation without a result is submitted again: for
/// the rest of a short write, after a poll for readiness, or once a buffer is available. Emulated
/// operations make their system call here.
///
/// Loop thread only.
final class CqeProcessor {
    private final InFlightTable table;
    private final KernelFeatures features;
    private final ReceiveBuffers buffers;
    private final ProvidedBufferRing bufferRing;
    private final PollCalls kernel;
    private final SyscallExecutor executor;

    CqeProcessor(
            InFlightTable table,
            KernelFeatures features,
            ReceiveBuffers buffers,
            ProvidedBufferRing bufferRing,
            SyscallFactories syscalls) {
        this.table = table;
        this.features = features;
        this.buffers = buffers;
        this.bufferRing = bufferRing;
        kernel = syscalls.kernels().get();
        executor = new SyscallExecutor(kernel, syscalls.sockets().get());
    }

    /// Processes a CQE.
    ///
    /// @return the result, with its buffer in the operation; [InFlightTable#NO_RESULT] if the
    ///     operation continues
    long complete(InFlightOp op, int result, int flags) {
        Request request = op.request();
        boolean more = (flags & IORING_CQE_F_MORE) != 0;
        op.buffer = -1;
        if (!more) {
            table.onReturned(op);
        }
        if (request.opcode == Opcode.POLL_END) {
            return completePollEnd(op, result, more);
        }
        if (more) {
            features.onMultishotConfirmed(request.opcode);
        } else {
            op.drained &= !op.paused;
            op.paused = false;
        }
        if (result == -Errno.ECANCELED && !request.cancelRequested) {
            return resubmitReturned(op);
        }
        if (op.polling) {
            return result < 0 ? result : onPolled(op, result);
        }
        if ((flags & IORING_CQE_F_BUFFER) != 0) {
            int buffer = flags >>> IORING_CQE_BUFFER_SHIFT;
            bufferRing.onSelected(buffer);
            if (result > 0) {
                op.buffer = buffer;
            } else {
                bufferRing.release(buffer);
            }
        }
        return result < 0 ? onError(op, result) : onSuccess(op, result);
    }

    /// Completes a POLL_END once the kernel has no SQE of it. `transferred` collects the events.
    private long completePollEnd(InFlightOp op, int result, boolean more) {
        Request request = op.request();
        int found = result < 0 ? 0 : result & request.flags;
        request.transferred |= found;
        if (more) {
            if (found != 0) {
                table.pause(op);
            }
            return NO_RESULT;
        }
        op.paused = false;
        if (request.transferred != 0) {
            return request.transferred;
        }
        boolean ended = result < 0 && (result != -Errno.ECANCELED || request.cancelRequested);
        return ended ? result : table.enqueue(op);
    }

    /// Submits an operation again that was cancelled, but not by its owner: it was too far ahead,
    /// or the run ended.
    private long resubmitReturned(InFlightOp op) {
        Request request = op.request();
        if (request.opcode == Opcode.CONNECT && !op.polling) {
            request.stage = SyscallExecutor.CONNECTING; // The kernel continues it.
        }
        if (op.polling && !features.isEmulated(request)) {
            op.pollFirst = true;
        }
        return resubmitUnlessAhead(op);
    }

    private long resubmitUnlessAhead(InFlightOp op) {
        return op.isAhead() || op.inKernel ? NO_RESULT : table.enqueue(op);
    }

    private long onPolled(InFlightOp op, int mask) {
        Request request = op.request();
        boolean ended =
                (mask & Linux.EPOLLPRI) == 0 && (mask & (Linux.EPOLLERR | Linux.EPOLLHUP)) != 0;
        if (request.opcode == Opcode.READ_URGENT && ended) {
            // Urgent data cannot arrive any more, and the read would not report that.
            return -Math.abs(executor.socketError(request.fd));
        }
        if (InFlightTable.isBehindUrgent(request) && executor.hasUrgentData(request.fd)) {
            return table.enqueue(op); // By the next CQE the urgent data is read.
        }
        return features.isEmulated(request) ? emulate(op) : table.enqueueReady(op);
    }

    /// Makes the system call of an emulated operation.
    ///
    /// @return as [#complete]
    long emulate(InFlightOp op) {
        Request request = op.request();
        DescriptorState descriptor = request.descriptor;
        int traits = descriptor == null ? 0 : descriptor.traits;
        op.buffer = -1;
        long result;
        if (request.opcode == Opcode.RECEIVE) {
            int buffer = buffers.acquire();
            if (buffer < 0) {
                return table.enqueueStarved(op);
            }
            result = executor.receive(request.fd, buffers.address(buffer), buffers.size(), traits);
            if (result > 0) {
                op.buffer = buffer;
            } else {
                buffers.release(buffer);
            }
        } else {
            result = executor.execute(request, traits);
        }
        if (result == SyscallExecutor.WOULD_BLOCK) {
            op.pollFirst = true;
            return table.enqueue(op);
        }
        return result;
    }

    private long onSuccess(InFlightOp op, int result) {
        Request request = op.request();
        Opcode opcode = request.opcode;
        if (opcode != Opcode.WRITE
                && opcode != Opcode.FILE_WRITE
                && opcode != Opcode.WRITE_VECTOR) {
            if (op.singleShot) {
                features.onMultishotRefused(opcode);
            }
            op.drained = result < buffers.size();
            return result;
        }
        request.transferred += result;
        boolean all =
                opcode == Opcode.WRITE_VECTOR
                        ? SyscallExecutor.advanceIovecs(request, result)
                        : result == 0 || request.transferred >= request.length;
        if (all) {
            return request.transferred;
        }
        request.reportProgress();
        return table.enqueue(op);
    }

    private long onError(InFlightOp op, int result) {
        Opcode opcode = op.request().opcode;
        // EAGAIN is a result for files, and for CONNECT: the backlog of a Unix socket is full.
        if (result == -Errno.EAGAIN && opcode.kind != Kind.FILE && opcode != Opcode.CONNECT) {
            op.pollFirst = true;
            return table.enqueue(op);
        }
        if (result == -Errno.EINTR) {
            return opcode == Opcode.FILE_CLOSE
                    ? 0
                    : table.enqueue(op); // close(2) frees the number.
        }
        if (result == -Errno.ENOBUFS && opcode == Opcode.RECEIVE) {
            op.drained = false;
            return op.isAhead() ? NO_RESULT : table.enqueueStarved(op);
        }
        if (result == -Errno.ECONNABORTED && opcode == Opcode.ACCEPT) {
            return resubmitUnlessAhead(op); // This peer has hung up; the next may be queued.
        }
        if (result == -Errno.EINVAL && op.multishot && !features.isMultishotConfirmed(opcode)) {
            op.singleShot = true; // If multishot was not the cause, it fails again.
            return resubmitUnlessAhead(op);
        }
        return result;
    }

    /// Ends an operation that a closed ring had. Its result is lost. A poll is submitted again.
    ///
    /// @return as [#complete]
    long onRingClosed(InFlightOp op) {
        table.onReturned(op);
        op.buffer = -1;
        if (op.polling) {
            return resubmitReturned(op);
        }
        buffers.abandon(); // The kernel may still write to them.
        return -Errno.ENOMEM;
    }

    /// Releases a result that has no receiver any more.
    void discard(Request request, int result, int buffer) {
        if (buffer >= 0) {
            bufferRing.release(buffer);
        } else if (request.opcode == Opcode.ACCEPT && result >= 0) {
            int _ = kernel.close(result);
        }
    }

    void discardHeld(InFlightOp op) {
        while (op.heldCount() > 0) {
            int held = op.pollHeld();
            discard(op.request(), held, op.buffer);
        }
    }

    /// Returns whether an error concerns the whole descriptor: clause O-5. The kernel reports it
    /// once.
    static boolean isBroken(DescriptorState descriptor, long result) {
        return result < 0
                && result != -Errno.ENOTCONN
                && result != -Errno.EPIPE // concerns one direction
                && Errno.kind((int) -result) == SystemCallException.Kind.CONNECTION
                && (descriptor.traits & Traits.STREAM) != 0;
    }
}
