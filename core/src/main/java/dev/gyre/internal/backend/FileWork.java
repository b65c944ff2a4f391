package dev.gyre.internal.backend;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/// File requests where the kernel offers no way to make them and go on: each is made by a thread that may
/// wait for the disk, and its result comes back through the loop's priority lane.
///
/// Of one that is cancelled before its thread came to it nothing is done. Past that it runs to its
/// end, because the kernel has its memory.
public final class FileWork {
    private final RequestHost host;
    private final Supplier<? extends FileCalls> calls;

    // Loop thread only.
    private final Completions completions;

    // Shared: set by the loop thread when it is over, read by workers.
    private final AtomicBoolean closed = new AtomicBoolean();

    /// Work for one loop.
    ///
    /// @param calls gives a thread its instance of the seam
    public FileWork(
            RequestHost host, Supplier<? extends FileCalls> calls, Completions completions) {
        this.host = host;
        this.calls = calls;
        this.completions = completions;
    }

    /// Has a worker make it. Its completion is posted on the loop thread.
    public void start(Request request) {
        int generation = request.generation();
        try {
            host.config().executor().execute(() -> work(request, generation));
        } catch (RejectedExecutionException e) {
            completions.post(request, -Errno.EAGAIN, false);
        }
    }

    /// The loop is over: what no worker has begun is not done any more.
    public void close() {
        closed.set(true);
    }

    /// On a worker. What it reads of the request was written before it was handed over, but for the wish to
    /// cancel, which it may miss.
    private void work(Request request, int generation) {
        boolean skipped = closed.get() || request.cancelRequested;
        long result = skipped ? -Errno.ECANCELED : perform(request);
        boolean accepted =
                host.submitPriority(
                        () -> {
                            if (request.generation() == generation) {
                                completions.post(request, result, false);
                            }
                        });
        if (!accepted) {
            if (request.opcode == Opcode.FILE_OPEN && result >= 0) {
                int _ = calls.get().close((int) result); // Nobody is left to have it.
            }
            request.owner.abandoned(result);
        }
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
            request.transferred += result;
        }
        return request.transferred;
    }
}
