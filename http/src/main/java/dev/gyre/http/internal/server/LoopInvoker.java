package dev.gyre.http.internal.server;

import dev.gyre.CooperativeExecutor;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Runs parts of blocking handlers on the loop, and lets their threads wait for it.
///
/// A loop that is closed drops its tasks. The threads that wait for one then get an exception.
final class LoopInvoker implements AutoCloseable {
    private final EventLoop loop;

    // Loop thread only.
    private boolean owned;

    // Shared: a thread adds its future and then reads `terminated`. The loop sets `terminated` and
    // then reads the futures. So at least one of them sees the other.
    private final Set<CompletableFuture<?>> awaited = ConcurrentHashMap.newKeySet();
    private volatile boolean terminated;

    LoopInvoker(EventLoop loop) {
        this.loop = loop;
    }

    /// Makes the loop close this when it terminates. Loop thread.
    void expectThreads() {
        if (!owned) {
            owned = true;
            loop.own(this);
        }
    }

    /// Requires the loop thread, or that no thread runs the loop.
    ///
    /// @throws WrongThreadException if another thread does
    void requireLoopThread(String method) {
        if (!loop.isLoopThread()) {
            requireIdle(method);
        }
    }

    /// Requires that no thread runs the loop: writes of the caller would interleave with its own.
    ///
    /// @throws WrongThreadException if one does
    void requireIdle(String method) {
        Thread owner = loop.thread();
        if (owner != null) {
            throw new WrongThreadException(
                    method
                            + " belongs to the thread of loop "
                            + loop.config().name()
                            + ", "
                            + owner
                            + ", but was called on "
                            + Thread.currentThread()
                            + ": use loop.submit or loop.promisify to return to the loop, or"
                            + " register the route with a blocking method such as blockingGet");
        }
    }

    /// Runs a task on the loop, without waiting for it. Does nothing if the loop is terminated.
    void submit(Runnable task) {
        try {
            loop.submitPriority(task);
        } catch (LoopTerminatedException e) {
            // The waiting threads know.
        }
    }

    /// Runs work on the loop and returns its result, or throws its exception. An interrupt does not
    /// end the wait: it takes one tick, and the work is done in any case.
    ///
    /// @throws LoopTerminatedException if the loop terminates before
    <T> T call(Supplier<T> work) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        loop.submitPriority(
                () -> {
                    try {
                        outcome.complete(work.get());
                    } catch (RuntimeException | Error e) {
                        outcome.completeExceptionally(e);
                    }
                });
        return await(outcome, () -> true);
    }

    /// Waits for a future that the loop completes.
    ///
    /// @param waitsOn whether an interrupted thread waits on; called when it is interrupted
    /// @throws CompletionException if the thread is interrupted, and does not wait on
    /// @throws LoopTerminatedException if the loop terminates before
    @SuppressWarnings("CollectionUndefinedEquality") // Futures are compared by identity.
    <T> T await(CompletableFuture<T> outcome, BooleanSupplier waitsOn) {
        awaited.add(outcome);
        if (terminated) {
            fail(outcome);
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    CooperativeExecutor turns = CooperativeExecutor.current(loop);
                    if (turns != null) {
                        turns.await(outcome::isDone);
                    }
                    return outcome.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    if (!waitsOn.getAsBoolean()) {
                        throw new CompletionException(
                                "interrupted while waiting for loop " + loop.config().name(), e);
                    }
                }
            }
        } catch (ExecutionException e) {
            throw switch (e.getCause()) {
                case RuntimeException unchecked -> unchecked;
                case Error error -> throw error;
                case null, default -> new CompletionException(e.getCause());
            };
        } finally {
            awaited.remove(outcome);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void fail(CompletableFuture<?> outcome) {
        outcome.completeExceptionally(
                new LoopTerminatedException(
                        "loop "
                                + loop.config().name()
                                + " has terminated before it ran a part of a blocking handler: let"
                                + " handlers finish first, with HttpServer.drain"));
    }

    /// Called when the loop terminates.
    @Override
    public void close() {
        terminated = true;
        awaited.forEach(this::fail);
    }
}
