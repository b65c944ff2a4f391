package dev.gyre.internal.backend;

import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/// File requests where the kernel offers no way to make them and go on: each is made by a thread that may
/// wait for the disk, and its result comes back through the loop's priority lane.
///
/// Of one that is cancelled before its thread came to it nothing is done. Past that it runs to its
/// end, because the kernel has its memory.
public final class FileWorkers {
    private final LoopContext host;
    private final Supplier<? extends FileCalls> calls;

    // Loop thread only.
    private final CompletionQueue completions;

    // Shared: added by workers, taken by the loop thread, or by the worker itself if the loop is
    // over.
    private final ConcurrentLinkedQueue<Result> cameBack = new ConcurrentLinkedQueue<>();

    // Shared: set by the loop thread when it is over, read by workers.
    private final AtomicBoolean closed = new AtomicBoolean();

    private static final class Result {
        final Request request;

        // Shared: set by whoever sees to the request, the worker or the loop thread.
        final AtomicBoolean claimed = new AtomicBoolean();

        // Shared: written by the worker before it is handed back, read by who takes it.
        long value = -Errno.EIO; // Unless the call itself returns.

        Result(Request request) {
            this.request = request;
        }
    }

    /// Work for one loop.
    ///
    /// @param calls gives a thread its instance of the seam
    public FileWorkers(
            LoopContext host, Supplier<? extends FileCalls> calls, CompletionQueue completions) {
        this.host = host;
        this.calls = calls;
        this.completions = completions;
    }

    /// Has a worker make it. Its completion is posted on the loop thread.
    public void start(Request request) {
        Result pending = new Result(request);
        try {
            host.config().executor().execute(() -> work(pending));
        } catch (RuntimeException e) {
            refused(pending, -Errno.EAGAIN);
        } catch (OutOfMemoryError e) {
            refused(pending, -Errno.ENOMEM); // Of threads, most likely.
        }
    }

    private void refused(Result pending, long errno) {
        if (pending.claimed.compareAndSet(false, true)) {
            Request request = pending.request;
            // A number that nobody closes is lost: rather wait for the disk here.
            boolean closes = request.opcode == Opcode.FILE_CLOSE;
            completions.post(request, closes ? perform(request) : errno, false);
        }
    }

    /// The loop is over: what no worker has begun is not done any more. Posts what has come back and was not
    /// delivered, since the loop may have dropped the task that would have.
    public void close() {
        closed.set(true);
        deliver();
    }

    /// On a worker. What it reads of the request was written before it was handed over, but for the wish to
    /// cancel, which it may miss.
    private void work(Result pending) {
        if (!pending.claimed.compareAndSet(false, true)) {
            return; // Of an executor that refused it and ran it all the same.
        }
        Request request = pending.request;
        boolean skipped =
                (closed.get() || request.cancelRequested) && request.opcode != Opcode.FILE_CLOSE;
        try {
            pending.value = skipped ? -Errno.ECANCELED : perform(request);
        } finally {
            cameBack.add(pending);
            if (!host.trySubmitPriority(this::deliver) && cameBack.remove(pending)) {
                abandon(pending);
            }
        }
    }

    private void deliver() {
        for (Result next = cameBack.poll(); next != null; next = cameBack.poll()) {
            completions.post(next.request, next.value, false);
        }
    }

    private void abandon(Result result) {
        if (result.request.opcode == Opcode.FILE_OPEN && result.value >= 0) {
            int _ = calls.get().close((int) result.value); // Nobody is left to have it.
        }
        result.request.handler.abandoned(result.value);
    }

    private long perform(Request request) {
        FileCalls own = calls.get();
        long result;
        do {
            result =
                    switch (request.opcode) {
                        case FILE_OPEN ->
                                own.open(request.address, request.flags, (int) request.length);
                        case FILE_READ ->
                                own.pread(
                                        request.fd,
                                        request.address,
                                        request.length,
                                        request.offset);
                        case FILE_WRITE -> writeAll(own, request);
                        case FILE_SYNC ->
                                request.flags == 1
                                        ? own.fdatasync(request.fd)
                                        : own.fsync(request.fd);
                        case FILE_STATUS ->
                                own.statx(
                                        request.fd,
                                        request.address,
                                        request.flags,
                                        Linux.STATX_BASIC_STATS,
                                        request.address2);
                        // Never again after EINTR: the number is free by then.
                        case FILE_CLOSE -> closed(own, request);
                        default -> throw new AssertionError(request.opcode + " is not of files");
                    };
        } while (result == -Errno.EINTR);
        return result;
    }

    private static long closed(FileCalls calls, Request request) {
        int result = request.fd < 0 ? 0 : calls.close(request.fd);
        return result == -Errno.EINTR ? 0 : result;
    }

    private static long writeAll(FileCalls calls, Request request) {
        while (request.transferred < request.length) {
            long result =
                    calls.pwrite(
                            request.fd,
                            request.address + request.transferred,
                            request.length - request.transferred,
                            request.offset + request.transferred);
            if (result < 0) {
                return result; // Interrupted, it is called again and goes on from there.
            }
            if (result == 0) {
                return -Errno.EIO; // Takes nothing and says nothing: asking again would not end.
            }
            request.transferred += result;
        }
        return request.transferred;
    }
}
