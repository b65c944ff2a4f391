package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.ShutdownReport;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Opens a loop, runs it on its own thread, submits a task, lets a timer fire, and shuts it down. A
/// loop that hangs delays it only by a timeout: its thread is a daemon.
final class LoopCheck {
    private static final Duration TIMER = Duration.ofMillis(2);
    private static final long TIMEOUT_SECONDS = 5;

    private LoopCheck() {}

    static Finding run(BackendKind kind) {
        try {
            EventLoop loop =
                    EventLoop.open(LoopConfig.DEFAULT.withName("doctor").withBackend(kind));
            Optional<String> fallback = loop.metrics().backendFallback();
            if (fallback.isPresent()) {
                loop.close();
                return Finding.fails(fallback.get());
            }
            return exercise(loop);
        } catch (UnsupportedOperationException | SystemCallException e) {
            return Finding.fails(message(e));
        } catch (LinkageError e) {
            // Initializers throw whatever prevents native calls from being linked.
            return Finding.fails("its native calls cannot be linked: " + message(root(e)));
        }
    }

    private static Finding exercise(EventLoop loop) {
        CompletableFuture<Thread> task = new CompletableFuture<>();
        CompletableFuture<Long> timer = new CompletableFuture<>();
        String step = "a timer could not be set";
        try {
            loop.after(
                    TIMER, fired -> timer.complete(System.nanoTime() - fired.firedDeadlineNanos()));
            Thread thread =
                    Thread.ofPlatform()
                            .daemon()
                            .name("doctor-loop")
                            .uncaughtExceptionHandler(
                                    (_, thrown) -> {
                                        task.completeExceptionally(thrown);
                                        timer.completeExceptionally(thrown);
                                    })
                            .start(loop::run);
            step = "a task from another thread did not run";
            loop.submit(() -> task.complete(Thread.currentThread()));
            if (!task.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).equals(thread)) {
                return Finding.fails("a task ran on the wrong thread");
            }
            step = "a timer did not fire";
            if (timer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS) < 0) {
                return Finding.fails("a timer fired early");
            }
            step = "the loop did not shut down";
            ShutdownReport end =
                    loop.shutdown(Duration.ofSeconds(1))
                            .toCompletableFuture()
                            .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!end.graceful()) {
                return Finding.fails("the loop abandoned work at shutdown: " + end);
            }
            return Finding.works(
                    "a task from another thread ran, a timer fired, the loop shut down; "
                            + switch (BackendKind.of(loop.metrics().backend())) {
                                case EPOLL -> waits(new LinuxPollCalls());
                                case IO_URING ->
                                        "waits use io_uring_enter; "
                                                + loop.metrics().backendDetail();
                                case KQUEUE -> "waits use kevent";
                            });
        } catch (ExecutionException e) {
            return Finding.fails(step + ": " + message(root(e)));
        } catch (TimeoutException e) {
            return Finding.fails(step + " within " + TIMEOUT_SECONDS + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Finding.fails(step + ": interrupted");
        }
    }

    /// Returns which call a loop on epoll waits with.
    static String waits(PollCalls kernel) {
        int epfd = kernel.epollCreate1(Linux.EPOLL_CLOEXEC);
        if (epfd < 0) {
            return "the wait call is unknown (" + Errno.name(-epfd) + ")";
        }
        MemorySegment event = Memory.allocate(Linux.SIZEOF_EPOLL_EVENT);
        MemorySegment zeroTimeout = Memory.allocate(Linux.SIZEOF_TIMESPEC);
        int result;
        try {
            result = kernel.epollPwait2(epfd, event.address(), 1, zeroTimeout.address());
        } finally {
            Reference.reachabilityFence(event);
            Reference.reachabilityFence(zeroTimeout);
            kernel.close(epfd);
        }
        return switch (-result) {
            case Errno.ENOSYS ->
                    "waits use a timerfd, epoll_pwait2 is missing (ENOSYS: needs Linux 5.11 and"
                            + " glibc 2.35)";
            case Errno.EPERM ->
                    "waits use a timerfd: a sandbox refuses epoll_pwait2 (EPERM), probably a"
                            + " container's seccomp profile";
            default -> "waits use epoll_pwait2";
        };
    }

    private static Throwable root(Throwable thrown) {
        Throwable root = thrown;
        for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
            root = cause;
        }
        return root;
    }

    private static String message(Throwable thrown) {
        String message = thrown.getMessage();
        return message != null ? message : thrown.getClass().getSimpleName();
    }
}
