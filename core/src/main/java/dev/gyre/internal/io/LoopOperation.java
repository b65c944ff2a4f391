package dev.gyre.internal.io;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.CancelledException;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.CompletionHandler;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.Request.State;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// What all operations have in common: a request that is started over and over, who hears of its
/// completions, and what ends it early. Subclasses fill the request in and take its results.
///
/// Loop thread only.
public abstract sealed class LoopOperation implements Operation, CompletionHandler
        permits BufferOperation,
                VectorOperation,
                LoopAccept,
                LoopReceive,
                LoopMessage,
                BufferlessOperation,
                LoopFileOpen,
                LoopFileStat {
    final LoopOperations operations;
    final Request request = new Request(this);
    private final OperationPools.Pool<?> pool;

    /// What it is about; null for those that work on paths, and in the pool.
    @Nullable OpenDescriptor descriptor;

    private @Nullable Consumer<? super Operation> callback;
    private @Nullable Deferred<Long> promise;
    private @Nullable CancelBinding cancelBinding;
    private boolean released;

    /// Whether the completion that is handed out settles a promise.
    private boolean promised;

    /// Whether the completion that is handed out says that more come. The request itself may say so of a later
    /// one by then: its callback may have started it anew.
    private boolean moreToCome;

    /// Cancels an operation when its [Cancellation] is cancelled. Listens only while the operation
    /// is pending.
    private final class CancelBinding {
        private final Cancellation cancellation;
        private @Nullable Registration registration;

        CancelBinding(Cancellation cancellation) {
            this.cancellation = cancellation;
        }

        void listen() {
            int generation = request.generation();
            // Called on any thread. The operation may be restarted before the loop runs the task.
            registration =
                    cancellation.onCancel(() -> operations.onLoop(() -> cancelStart(generation)));
        }

        void stopListening() {
            if (registration != null) {
                registration.close();
                registration = null;
            }
        }

        private void cancelStart(int generation) {
            if (request.generation() == generation) {
                boolean _ = cancel();
            }
        }
    }

    LoopOperation(LoopOperations operations, OperationPools.Pool<?> pool) {
        this.operations = operations;
        this.pool = pool;
    }

    /// Sets the opcode, the descriptor and the callback of an operation from the pool.
    ///
    /// @param callback accepts the subclass's own public type, which the subclass's method checks
    @SuppressWarnings("unchecked")
    final void init(Opcode opcode, @Nullable OpenDescriptor of, @Nullable Consumer<?> callback) {
        request.opcode = opcode;
        request.multishot = false;
        request.flags = 0;
        request.offset = 0;
        request.fd2 = -1;
        request.address2 = 0;
        request.result = 0;
        request.transferred = 0;
        request.onProgress = null;
        descriptor = of;
        this.callback = (Consumer<? super Operation>) callback;
        released = false;
    }

    /// Sets who notes that a part of it went out, until it is made another one.
    public final void onProgress(Runnable told) {
        request.onProgress = told;
    }

    // ------------------------------------------------------------------ for subclasses

    /// Checks and acquires the user's buffers, and fills in the request. Acquires nothing if it
    /// throws.
    void prepare() {}

    /// Releases the user's buffers and stores the result, after the kernel completed the request.
    void settle() {}

    /// Frees what the last completion produced and the user did not take. Called after the callback,
    /// instead of it, and on release.
    void discard() {}

    /// Drops references to the user's objects, on release.
    void forget() {}

    // ------------------------------------------------------------------ starting and stopping

    @Override
    public Operation start() {
        begin();
        return this;
    }

    @Override
    public Promise<Long> startPromised() {
        requireIdle();
        if (request.multishot) {
            throw new IllegalStateException(
                    this + " completes again and again, and a promise only once: use start()");
        }
        Deferred<Long> deferred = operations.host.loop().deferred();
        begin();
        promise = deferred;
        return deferred.promise();
    }

    private void begin() {
        operations.host.requireOpen("start");
        requireIdle();
        boolean file = request.opcode.kind == Kind.FILE;
        OpenDescriptor of = descriptor;
        boolean holds = holdsFd();
        if (holds && of != null) {
            of.lifetime().acquire();
        }
        try {
            LoopOperations.FdLease port =
                    file ? null : operations.leaseOf(Objects.requireNonNull(of));
            prepare();
            if (port == null) {
                operations.requests.startFile(request);
            } else {
                operations.requests.start(port.state, request);
            }
        } catch (Throwable e) {
            if (holds && of != null) {
                of.lifetime().release();
            }
            throw e;
        }
        if (cancelBinding != null) {
            cancelBinding.listen();
        }
    }

    /// Whether it keeps the number from being given back. Those of streams leave that to their port.
    private boolean holdsFd() {
        return request.opcode.kind == Kind.FILE
                && request.opcode != Opcode.FILE_CLOSE
                && descriptor != null;
    }

    private void requireIdle() {
        if (released) {
            throw new IllegalStateException("the operation was released: make another one");
        }
        if (request.state() != State.IDLE) {
            throw new IllegalStateException(
                    this + " is under way: wait for its completion, or cancel it");
        }
    }

    @Override
    public boolean cancel() {
        operations.host.requireConfined("cancel");
        boolean pending =
                request.state() == State.PENDING
                        || (request.state() == State.COMPLETED && request.more);
        if (pending && !request.cancelRequested) {
            operations.requests.cancel(request);
            return true;
        }
        return false;
    }

    @Override
    public Operation cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        operations.host.requireConfined("cancelOn");
        if (cancelBinding != null) {
            cancelBinding.stopListening();
        }
        cancelBinding = new CancelBinding(cancellation);
        if (isPending()) {
            cancelBinding.listen();
        }
        return this;
    }

    @Override
    public Operation key(@Nullable Object key) {
        operations.host.requireConfined("key");
        request.key = key;
        return this;
    }

    @Override
    public void release() {
        operations.host.requireConfined("release");
        requireIdle();
        released = true;
        request.key = null;
        callback = null;
        cancelBinding = null;
        descriptor = null;
        discard();
        forget();
        pool.release(this);
    }

    // ------------------------------------------------------------------ as the handler of its
    // completions

    @Override
    public final void onComplete(Request completed) {
        settleCompletion();
        try {
            runCallback();
        } finally {
            finish();
        }
    }

    private void settleCompletion() {
        moreToCome = request.more;
        if (!moreToCome) {
            if (cancelBinding != null) {
                cancelBinding.stopListening();
            }
            releaseFd();
        }
        settle();
    }

    private void releaseFd() {
        OpenDescriptor of = descriptor;
        if (of != null && holdsFd()) {
            of.lifetime().release();
        }
    }

    @Override
    public final void abandoned(long result) {
        releaseFd();
    }

    private void runCallback() {
        Deferred<Long> waiting = promise;
        if (waiting == null) {
            if (callback != null) {
                callback.accept(this);
            }
            return;
        }
        promise = null;
        promised = true;
        SystemCallException failure = failure();
        if (failure != null) {
            waiting.reject(failure);
        } else if (isCancelled()) {
            waiting.reject(cancelledBy());
        } else {
            waiting.resolve(request.result);
        }
    }

    private CancelledException cancelledBy() {
        CancelledException reason =
                cancelBinding == null ? null : cancelBinding.cancellation.reason();
        return reason != null ? reason : new CancelledException(this + " was cancelled");
    }

    private void finish() {
        if (promised) {
            // What it brought is taken in a microtask, or by the next start at the latest.
            promised = false;
        } else {
            discard();
        }
        if (moreToCome) {
            operations.requests.resume(request);
        }
    }

    /// Drops a completion that nothing runs a callback for any more.
    public final void drop() {
        settleCompletion();
        discard();
    }

    // ------------------------------------------------------------------ looking

    @Override
    public boolean isPending() {
        operations.host.requireConfined("isPending");
        return request.state() != State.IDLE;
    }

    @Override
    public int generation() {
        operations.host.requireConfined("generation");
        return request.generation();
    }

    @Override
    public long result() {
        operations.host.requireConfined("result");
        return request.result;
    }

    @Override
    public long transferred() {
        operations.host.requireConfined("transferred");
        return request.transferred;
    }

    @Override
    public boolean isCancelled() {
        operations.host.requireConfined("isCancelled");
        return request.result == -Errno.ECANCELED;
    }

    @Override
    public @Nullable SystemCallException failure() {
        operations.host.requireConfined("failure");
        long result = request.result;
        if (result >= 0 || result == -Errno.ECANCELED) {
            return null;
        }
        int fd = descriptor == null ? SystemCallException.NO_FD : descriptor.lifetime().fd;
        return new SystemCallException(request.opcode.call, (int) -result, fd);
    }

    @Override
    public @Nullable Descriptor descriptor() {
        return descriptor;
    }

    @Override
    public String toString() {
        return "the " + request.opcode.call + (descriptor == null ? "" : " of " + descriptor);
    }
}
