package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/// Lets the thread of a blocking handler have something done on the loop, and wait for it.
final class OnLoop {
    private OnLoop() {}

    /// What the loop makes of it; what is thrown there is thrown here.
    ///
    /// @throws CompletionException if the thread is interrupted meanwhile
    static <T> T call(EventLoop loop, Supplier<T> work) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        loop.submitPriority(
                () -> {
                    try {
                        outcome.complete(work.get());
                    } catch (RuntimeException | Error e) {
                        outcome.completeExceptionally(e);
                    }
                });
        return await(outcome);
    }

    static <T> T await(CompletableFuture<T> outcome) {
        try {
            return outcome.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CompletionException("interrupted while the loop was waited for", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new CompletionException(e.getCause());
        }
    }
}
