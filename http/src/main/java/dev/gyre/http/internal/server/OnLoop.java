package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Lets the threads of blocking handlers have something done on the loop, and wait for it.
///
/// A loop that is closed drops what was handed to it without a word: whoever waits then is told here.
final class OnLoop implements AutoCloseable {
    private final EventLoop loop;

    // Loop thread only.
    private boolean owned;

    // Shared: threads say for what they wait, and then look whether the loop has ended; who ends it
    // says so, and then looks who waits. So one of them sees the other.
    private final Set<CompletableFuture<?>> awaited = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    OnLoop(EventLoop loop) {
        this.loop = loop;
    }

    /// There will be threads that wait. Loop thread.
    void expectThreads() {
        if (!owned) {
            owned = true;
            loop.own(this);
        }
    }

    /// What the loop makes of it; what is thrown there is thrown here. It is a matter of one turn, and done in any case: an
    /// interrupt waits for that.
    ///
    /// @throws LoopTerminatedException if the loop ends before
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

    /// Waits for what the loop is to bring.
    ///
    /// @param heldUp asked when the thread is interrupted: whether it waits on all the same
    /// @throws CompletionException if the thread is interrupted, and does not wait on
    /// @throws LoopTerminatedException if the loop ends before
    @SuppressWarnings("CollectionUndefinedEquality") // a future is only itself
    <T> T await(CompletableFuture<T> outcome, BooleanSupplier heldUp) {
        awaited.add(outcome);
        if (ended) {
            giveUp(outcome);
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return outcome.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    if (!heldUp.getAsBoolean()) {
                        throw new CompletionException("interrupted while it waited", e);
                    }
                }
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new CompletionException(e.getCause());
        } finally {
            awaited.remove(outcome);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void giveUp(CompletableFuture<?> outcome) {
        outcome.completeExceptionally(
                new LoopTerminatedException(
                        "loop "
                                + loop.config().name()
                                + " has ended, and what a blocking handler asked of it was not"
                                + " done: let handlers end before their loop, with"
                                + " HttpServer.drain"));
    }

    /// The loop ends.
    @Override
    public void close() {
        ended = true;
        awaited.forEach(this::giveUp);
    }
}
