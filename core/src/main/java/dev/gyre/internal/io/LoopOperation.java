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

/// The base of all operations: a reusable request, its callback and its cancellation. Subclasses
/// fill in the request and read its result.
///
/// Loop thread only.
public abstract sealed class LoopOperation implements Operation, CompletionHandler
        permits BufferOperation,
                VectorOperation,
                LoopAcceptOperation,
                LoopReceiveOperation,
                LoopMessageOperation,
                BufferlessOperation,
                LoopFileOpenOperation,
                LoopFileStatOperation {
    final LoopOperations operations;
    final Request request = new Request(this);
    private final OperationPools.Pool<?> pool;

    /// Null for operations on paths, and in the pool.
    @Nullable OpenDescriptor descriptor;

    private @Nullable Consumer<? super Operation> callback;
    private @Nullable Deferred<Long> promise;
    private @Nullable CancelBinding cancelBinding;
    private boolean released;

    /// Whether the current completion settles a promise.
    private boolean promised;

    /// Whether more completions follow the current one. Copied from the request, because the
    /// callback may restart that.
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

    /// Sets the callback for partial writes, until the operation is released.
    public final void onProgress(Runnable callback) {
        request.onProgress = callback;
    }

    /// Checks and acquires the user's buffers, and fills in the request. Acquires nothing if it
    /// throws.
    void prepare() {}

    /// Releases the user's buffers and stores the result, after the kernel completed the request.
    void settle() {}

    /// Frees the product of the last completion unless the user has taken it. Called after the
    /// callback, instead of it, and on release.
    void discard() {}

    /// Drops references to the user's objects, on release.
    void forget() {}

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
                    this + " completes repeatedly, but a promise only once: use start()");
        }
        Deferred<Long> deferred = operations.context.loop().deferred();
        begin();
        promise = deferred;
        return deferred.promise();
    }

    private void begin() {
        operations.context.requireOpen("start");
        requireIdle();
        boolean file = request.opcode.kind == Kind.FILE;
        OpenDescriptor of = descriptor;
        boolean holds = holdsFd();
        if (holds && of != null) {
            of.lifetime().acquire();
        }
        try {
            LoopOperations.FdLease lease =
                    file ? null : operations.leaseOf(Objects.requireNonNull(of));
            prepare();
            if (lease == null) {
                operations.engine.startFile(request);
            } else {
                operations.engine.start(lease.state, request);
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

    /// Whether the operation itself keeps the fd open. Others rely on their lease.
    private boolean holdsFd() {
        return request.opcode.kind == Kind.FILE
                && request.opcode != Opcode.FILE_CLOSE
                && descriptor != null;
    }

    private void requireIdle() {
        if (released) {
            throw new IllegalStateException("the operation was released: create another one");
        }
        if (request.state() != State.IDLE) {
            throw new IllegalStateException(
                    this + " is pending: wait for its completion, or cancel it");
        }
    }

    @Override
    public boolean cancel() {
        operations.context.requireConfined("cancel");
        boolean pending =
                request.state() == State.PENDING
                        || (request.state() == State.COMPLETED && request.more);
        if (pending && !request.cancelRequested) {
            operations.engine.cancel(request);
            return true;
        }
        return false;
    }

    @Override
    public Operation cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        operations.context.requireConfined("cancelOn");
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
        operations.context.requireConfined("key");
        request.key = key;
        return this;
    }

    @Override
    public void release() {
        operations.context.requireConfined("release");
        requireIdle();
        discard(); // First: it may close a descriptor, which reserves stack of its own.
        released = true;
        request.key = null;
        callback = null;
        cancelBinding = null;
        descriptor = null;
        forget();
        pool.release(this);
    }

    @Override
    public final void onComplete(Request completed) {
        try {
            settleCompletion();
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
            // A reaction takes the product in a microtask. The next completion frees it otherwise.
            promised = false;
        } else {
            discard();
        }
        if (moreToCome) {
            operations.engine.resume(request);
        }
    }

    /// Frees a completion without its callback, when the loop terminates.
    public final void drop() {
        settleCompletion();
        discard();
    }

    @Override
    public boolean isPending() {
        operations.context.requireConfined("isPending");
        return request.state() != State.IDLE;
    }

    @Override
    public int generation() {
        operations.context.requireConfined("generation");
        return request.generation();
    }

    @Override
    public long result() {
        operations.context.requireConfined("result");
        return request.result;
    }

    @Override
    public long transferred() {
        operations.context.requireConfined("transferred");
        return request.transferred;
    }

    @Override
    public boolean isCancelled() {
        operations.context.requireConfined("isCancelled");
        return request.result == -Errno.ECANCELED;
    }

    @Override
    public @Nullable SystemCallException failure() {
        operations.context.requireConfined("failure");
        long result = request.result;
        if (result >= 0 || result == -Errno.ECANCELED) {
            return null;
        }
        int fd = descriptor == null ? SystemCallException.NO_FD : descriptor.lifetime().fd;
        return new SystemCallException(request.opcode.call, (int) -result, fd);
    }

    @Override
    public String describe() {
        OpenDescriptor of = descriptor;
        return of == null ? "" : of.describeUser();
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
