package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.io.BufferlessOperation;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Polls a socket for the peer's end or reset while no receive would notice it. Runs at the end of
/// a tick in which the socket became idle or stopped.
///
/// A poll in flight is not cancelled when reading resumes: most streams pause more than once.
///
/// Loop thread only.
final class HangupWatch implements Runnable {
    private final SocketTransport transport;
    private final LoopOperations operations;
    private final Consumer<Operation> onReady = this::ready;
    private @Nullable BufferlessOperation poll;
    private boolean armed;
    private boolean inputEnded;
    private boolean outputEnded;
    private boolean endReported;

    /// Whether a hang-up was reported. It is permanent, so no further poll is needed.
    private boolean hungUp;

    /// @param before the watch of the same socket on the previous loop; null for a new socket
    HangupWatch(
            SocketTransport transport, LoopOperations operations, @Nullable HangupWatch before) {
        this.transport = transport;
        this.operations = operations;
        if (before != null) {
            inputEnded = before.inputEnded;
            outputEnded = before.outputEnded;
            endReported = before.endReported;
        }
    }

    void inputEnded() {
        inputEnded = true;
    }

    void outputEnded() {
        outputEnded = true;
    }

    boolean isArmed() {
        return armed;
    }

    /// Arms the poll if the socket is idle and a hang-up is still of interest.
    @Override
    public void run() {
        if (!transport.isActive()) {
            transport.reportIfStopped();
            return;
        }
        if (armed
                || hungUp
                || (inputEnded && outputEnded)
                || !transport.isIdle()
                || (operations.isShuttingDown() && !operations.isTransferring())) {
            return;
        }
        int interest = Readiness.HANGUP | Readiness.ERROR;
        if (!inputEnded && !endReported) {
            interest |= Readiness.END;
        }
        BufferlessOperation known = poll;
        if (known == null) {
            known = operations.pools().bufferless.acquire();
            poll = known;
        }
        known.pollEnd(transport.socket, interest, onReady);
        known.start();
        armed = true;
        operations.countBackground(1);
    }

    private void ready(Operation done) {
        armed = false;
        operations.countBackground(-1);
        if (!transport.isActive()) {
            transport.releaseIfIdle();
            run(); // The next loop polls again.
            return;
        }
        if (transport.isReceiving()) {
            return; // The receive reports it after the remaining bytes.
        }
        long result = done.result();
        if (SocketTransport.isShortage(result)) {
            transport.retryAfterShortage(this);
        } else if (result == -Errno.EINVAL) {
            hungUp = true; // This kernel cannot poll for it.
        } else if (result < 0) {
            if (!done.isCancelled()) {
                transport.fail(done);
            }
        } else {
            report((int) result);
            run();
        }
    }

    private void report(int ready) {
        int error = 0;
        if ((ready & Readiness.ERROR) != 0) {
            error = SocketOption.SO_ERROR.get(operations.syscalls(), transport.socket);
        }
        hungUp |= (ready & (Readiness.HANGUP | Readiness.ERROR)) != 0;
        if (error == 0 && hungUp && inputEnded && !outputEnded) {
            error = Errno.EPIPE; // A Unix peer has closed and can receive no more output.
        }
        if (error != 0) {
            transport.peerLost(new SystemCallException("poll", error, SystemCallException.NO_FD));
        } else if (!inputEnded && !endReported) {
            endReported = true;
            transport.handler().onEndPending();
        }
    }

    void cancel() {
        if (armed && poll != null) {
            boolean _ = poll.cancel();
        }
    }

    /// Releases the operation. The poll must not be in flight.
    void release() {
        if (poll != null) {
            poll.release();
        }
    }
}
