package dev.gyre.http.testkit;

import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.testkit.SimulatedWorld;

import org.jspecify.annotations.Nullable;

import java.io.Serial;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// Lets the test's thread wait for a loop. If no thread runs the loop, the waiting thread does.
final class LoopDriver {
    private static final int TRACE_LINES = 30;

    /// A world with a group advances by this much at a time, because no single loop can stop it.
    private static final Duration STEP = Duration.ofMillis(1);

    final EventLoop loop;
    private final @Nullable SimulatedWorld world;

    /// Whether the loops of a group run too: on their threads, or in the world.
    private final boolean inGroup;

    private Duration timeout = Duration.ofSeconds(30);

    LoopDriver(EventLoop loop, @Nullable SimulatedWorld world, boolean inGroup) {
        this.loop = loop;
        this.world = world;
        this.inGroup = inGroup;
    }

    void timeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout must be positive, but is " + timeout);
        }
        this.timeout = timeout;
    }

    /// A promise was rejected, or not settled in time.
    static final class WaitFailedException extends Exception {
        @Serial private static final long serialVersionUID = 1;

        WaitFailedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /// Shows the state of the world in the stack trace of an exception that left its loop.
    private static final class WorldContext extends Exception {
        @Serial private static final long serialVersionUID = 1;

        WorldContext(String message) {
            super(message, null, false, false);
        }
    }

    /// Calls the action in the loop's context and waits for its promise.
    ///
    /// @throws IllegalStateException if called by a callback of the loop
    <T> T await(Supplier<? extends Promise<T>> action) throws WaitFailedException {
        return await(action, timeout);
    }

    <T> T await(Supplier<? extends Promise<T>> action, Duration atMost) throws WaitFailedException {
        // The thread of a group that was just started may not run its loop yet.
        boolean threaded = loop.thread() != null || (inGroup && world == null);
        if (!threaded) {
            return drive(action, atMost);
        }
        if (loop.isLoopThread()) {
            throw new IllegalStateException(
                    "a TestClient waits for the loop, so callbacks of the loop cannot use it: call"
                            + " it from the test's thread");
        }
        return awaitOtherThread(action, atMost);
    }

    /// Calls the action in the loop's context and returns its result.
    <T> T get(Supplier<T> action) {
        try {
            return await(() -> Promise.resolved(loop, action.get()));
        } catch (WaitFailedException e) {
            throw failure(String.valueOf(e.getMessage()), e);
        }
    }

    /// Calls the action in the loop's context.
    void call(Runnable action) {
        boolean _ =
                get(
                        () -> {
                            action.run();
                            return true;
                        });
    }

    private <T> T drive(Supplier<? extends Promise<T>> action, Duration atMost)
            throws WaitFailedException {
        boolean[] waiting = {!inGroup};
        try {
            Promise<T> promise = action.get();
            Promise<?> _ = promise.then(_ -> stop(waiting), _ -> stop(waiting));
            long deadline = loop.nanoTime() + atMost.toNanos();
            long left = atMost.toNanos();
            while (!promise.isSettled() && left > 0) {
                run(Duration.ofNanos(left));
                left = deadline - loop.nanoTime();
            }
            Outcome<T> outcome = promise.outcome();
            if (outcome == null) {
                throw timedOut(atMost);
            }
            return switch (outcome) {
                case Outcome.Resolved<T> resolved -> resolved.value();
                case Outcome.Rejected<T> rejected -> throw rejected(rejected.reason());
            };
        } catch (RuntimeException | Error e) {
            if (world != null) {
                e.addSuppressed(new WorldContext(context()));
            }
            throw e;
        } finally {
            // A late outcome must not stop a later run.
            waiting[0] = false;
        }
    }

    private void run(Duration atMost) {
        if (world != null && inGroup) {
            world.advance(atMost.compareTo(STEP) < 0 ? atMost : STEP);
        } else {
            loop.runFor(atMost);
        }
    }

    private boolean stop(boolean[] waiting) {
        if (waiting[0]) {
            loop.stop();
        }
        return true;
    }

    private <T> T awaitOtherThread(Supplier<? extends Promise<T>> action, Duration atMost)
            throws WaitFailedException {
        AtomicReference<@Nullable RuntimeException> thrown = new AtomicReference<>();
        try {
            return loop.<T>call(
                            () -> {
                                try {
                                    return action.get();
                                } catch (RuntimeException e) {
                                    thrown.set(e);
                                    throw e;
                                }
                            })
                    .get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            RuntimeException own = thrown.get();
            if (own != null) {
                throw own;
            }
            throw rejected(e.getCause() == null ? e : e.getCause());
        } catch (TimeoutException e) {
            throw timedOut(atMost);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitFailedException("the test's thread was interrupted", e);
        }
    }

    private static WaitFailedException rejected(Throwable reason) {
        return new WaitFailedException(reason.toString(), reason);
    }

    private WaitFailedException timedOut(Duration atMost) {
        String clock = world == null ? "" : " of simulated time";
        return new WaitFailedException(
                "nothing within " + format(atMost) + clock + "; set TestClient.timeout for more",
                null);
    }

    /// Returns a duration in the largest fitting unit, such as `30 s`.
    private static String format(Duration duration) {
        return duration.toMillis() % 1000 == 0
                ? duration.toSeconds() + " s"
                : duration.toMillis() + " ms";
    }

    /// Returns an assertion error. Its message ends with the state of the world.
    AssertionError failure(String message, @Nullable Throwable cause) {
        String context = context();
        return new AssertionError(context.isEmpty() ? message : message + "\n\n" + context, cause);
    }

    private String context() {
        return world == null
                ? ""
                : "simulated world with seed "
                        + world.seed()
                        + ", the last lines of its trace:\n"
                        + world.trace().tail(TRACE_LINES);
    }
}
