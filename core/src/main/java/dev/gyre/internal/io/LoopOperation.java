package dev.gyre.internal.io;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.IoHandler;
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
public abstract sealed class LoopOperation implements Operation, IoHandler
        permits BufferOperation,
                VectorOperation,
                LoopAccept,
                LoopReceive,
                LoopMessage,
                PlainOperation,
                LoopFileOpen,
                LoopFileStat {
    final LoopOperations operations;
    final Request request = new Request(this);

    /// What it is about; null for those that work on paths, and in the pool.
    @Nullable OpenDescriptor descriptor;

    private @Nullable Consumer<? super Operation> callback;
    private @Nullable Deferred<Long> promise;
    private @Nullable CancelBinding stopper;
    private boolean pooled;

    /// Whether the completion that is handed out settles a promise.
    private boolean promised;

    /// Whether the completion that is handed out says that more come. The request itself may say so of a later
    /// one by then: its callback may have started it anew.
    private boolean goesOn;

    LoopOperation(LoopOperations operations) {
        this.operations = operations;
    }

    /// Makes it one of a certain sort. Callbacks are of the subclass's own type; who makes it knows.
    final void become(
            Opcode opcode,
            @Nullable OpenDescriptor of,
            @Nullable Consumer<? super Operation> callback) {
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
        this.callback = callback;
        pooled = false;
    }

    /// Sets who notes that a part of it went out, until it is made another one.
    public final void onProgress(Runnable told) {
        request.onProgress = told;
    }

    // ------------------------------------------------------------------ for subclasses

    /// Checks and lends what it was given, and fills the request in. If it throws, nothing is lent.
    abstract void prepare();

    /// The kernel is through: takes back what was lent, and takes the result in.
    abstract void settle();

    /// The callback has returned.
    void finished() {}

    /// The completion will reach nobody any more: frees what it brought.
    void discard() {}

    /// Lets go of what belongs to the user.
    abstract void forget();

    /// Puts it where others of its sort wait to be made of.
    abstract void returnTo(OperationPools pools);

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
        boolean holds = holdsNumber();
        if (holds && of != null) {
            of.opening().enter();
        }
        try {
            FdLease port = file ? null : operations.portOf(Objects.requireNonNull(of));
            prepare();
            if (port == null) {
                operations.requests.startFile(request);
            } else {
                operations.requests.start(port.state, request);
            }
        } catch (Throwable e) {
            if (holds && of != null) {
                of.opening().leave();
            }
            throw e;
        }
        if (stopper != null) {
            stopper.listen();
        }
    }

    /// Whether it keeps the number from being given back. Those of streams leave that to their port.
    private boolean holdsNumber() {
        return request.opcode.kind == Kind.FILE
                && request.opcode != Opcode.FILE_CLOSE
                && descriptor != null;
    }

    private void requireIdle() {
        if (pooled) {
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
        if (stopper != null) {
            stopper.stopListening();
        }
        stopper = new CancelBinding(this, cancellation);
        if (isPending()) {
            stopper.listen();
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
        pooled = true;
        request.key = null;
        callback = null;
        stopper = null;
        descriptor = null;
        forget();
        returnTo(operations.pools);
    }

    // ------------------------------------------------------------------ as the handler of its
    // completions

    @Override
    public final int take(int ready) {
        goesOn = request.more;
        if (!goesOn) {
            if (stopper != null) {
                stopper.stopListening();
            }
            letNumberGo();
        }
        settle();
        return READ;
    }

    private void letNumberGo() {
        OpenDescriptor of = descriptor;
        if (of != null && holdsNumber()) {
            of.opening().leave();
        }
    }

    @Override
    public final void abandoned(long result) {
        letNumberGo();
    }

    @Override
    public final boolean isCompletion() {
        return true;
    }

    @Override
    public final void run(int ignored) {
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
        CancelledException reason = stopper == null ? null : stopper.reason();
        return reason != null ? reason : new CancelledException(this + " was cancelled");
    }

    @Override
    public final void finish() {
        if (promised) {
            // What it brought is taken in a microtask, or by the next start at the latest.
            promised = false;
        } else {
            finished();
        }
        if (goesOn) {
            operations.requests.resume(request);
        }
    }

    /// Instead of take and run, for a completion that comes too late.
    public final void drop() {
        int _ = take(0);
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
        int fd = descriptor == null ? SystemCallException.NO_FD : descriptor.opening().fd;
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
