package dev.gyre.internal.backend;

import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/// Executes file requests on worker threads, which may wait for the disk. The result returns
/// through the loop's priority lane.
///
/// A request cancelled before a worker picks it up is skipped. After that it runs to its end,
/// because the kernel has its memory.
public final class FileWorkers {
    private final LoopContext context;
    private final Supplier<? extends FileCalls> calls;

    // Loop thread only.
    private final CompletionQueue completions;

    // Shared: added by workers, removed by the loop thread, or by the worker itself once the loop
    // is terminated.
    private final ConcurrentLinkedQueue<Result> finished = new ConcurrentLinkedQueue<>();

    // Shared: set by the loop thread when it terminates, read by workers.
    private final AtomicBoolean closed = new AtomicBoolean();

    private static final class Result {
        final Request request;

        // Shared: set by the worker or the loop thread, whichever completes the request.
        final AtomicBoolean claimed = new AtomicBoolean();

        // Shared: written by the worker before it is enqueued, read by the thread that dequeues it.
        long value = -Errno.EIO; // If the call throws.

        Result(Request request) {
            this.request = request;
        }
    }

    /// @param calls supplies an instance for the calling thread
    public FileWorkers(
            LoopContext context, Supplier<? extends FileCalls> calls, CompletionQueue completions) {
        this.context = context;
        this.calls = calls;
        this.completions = completions;
    }

    /// Starts a request on a worker. Its completion is posted on the loop thread.
    public void start(Request request) {
        Result pending = new Result(request);
        try {
            context.config().executor().execute(() -> work(pending));
        } catch (RuntimeException e) {
            onRefused(pending, -Errno.EAGAIN);
        } catch (OutOfMemoryError e) {
            onRefused(pending, -Errno.ENOMEM); // Most likely no thread could be created.
        }
    }

    private void onRefused(Result pending, long errno) {
        if (pending.claimed.compareAndSet(false, true)) {
            Request request = pending.request;
            // An unclosed descriptor would leak: this thread waits for the disk instead.
            boolean closes = request.opcode == Opcode.FILE_CLOSE;
            completions.post(request, closes ? execute(request) : errno, false);
        }
    }

    /// Skips requests that no worker has begun. Posts results that were not delivered, because the
    /// terminated loop may have dropped the task that delivers them.
    public void close() {
        closed.set(true);
        deliver();
    }

    /// Runs on a worker. The fields of the request were written before it was handed over, except
    /// `cancelRequested`, which the worker may miss.
    private void work(Result pending) {
        if (!pending.claimed.compareAndSet(false, true)) {
            return; // The executor refused it and runs it nevertheless.
        }
        Request request = pending.request;
        boolean skipped =
                (closed.get() || request.cancelRequested) && request.opcode != Opcode.FILE_CLOSE;
        try {
            pending.value = skipped ? -Errno.ECANCELED : execute(request);
        } finally {
            finished.add(pending);
            if (!context.trySubmitPriority(this::deliver) && finished.remove(pending)) {
                abandon(pending);
            }
        }
    }

    private void deliver() {
        for (Result next = finished.poll(); next != null; next = finished.poll()) {
            completions.post(next.request, next.value, false);
        }
    }

    private void abandon(Result result) {
        if (result.request.opcode == Opcode.FILE_OPEN && result.value >= 0) {
            int _ = calls.get().close((int) result.value); // The loop no longer receives it.
        }
        result.request.handler.abandoned(result.value);
    }

    private long execute(Request request) {
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
                        case FILE_CLOSE -> closeOnce(own, request);
                        default -> throw new AssertionError(request.opcode + " is no file request");
                    };
        } while (result == -Errno.EINTR);
        return result;
    }

    /// Does not retry after EINTR: the number is free by then.
    private static long closeOnce(FileCalls calls, Request request) {
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
                return result; // After EINTR the caller retries, and continues from here.
            }
            if (result == 0) {
                return -Errno.EIO; // No progress and no error: a retry would not end.
            }
            request.transferred += result;
        }
        return request.transferred;
    }
}
