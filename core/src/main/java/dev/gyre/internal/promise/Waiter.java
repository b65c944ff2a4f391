package dev.gyre.internal.promise;

import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/// A thread that waits for a promise.
final class Waiter {
    private Waiter() {}

    static <T extends @Nullable Object> T await(LoopPromise<T> promise)
            throws InterruptedException {
        requireAnotherThread(promise);
        if (!promise.isSettled()) {
            Subscription subscription = subscribe(promise);
            while (!promise.isSettled()) {
                throwIfInterrupted(subscription);
                LockSupport.park(promise);
            }
        }
        return result(promise);
    }

    static <T extends @Nullable Object> T await(LoopPromise<T> promise, Duration timeout)
            throws InterruptedException, TimeoutException {
        long nanos = Durations.saturatedNanos("timeout", timeout);
        requireAnotherThread(promise);
        if (!promise.isSettled()) {
            long deadlineNanos = System.nanoTime() + nanos;
            Subscription subscription = subscribe(promise);
            while (!promise.isSettled()) {
                throwIfInterrupted(subscription);
                long left = deadlineNanos - System.nanoTime(); // survives wrap-around
                if (left <= 0) {
                    subscription.cancel();
                    throw new TimeoutException(promise + " did not settle within " + timeout);
                }
                LockSupport.parkNanos(promise, left);
            }
        }
        return result(promise);
    }

    private static Subscription subscribe(LoopPromise<?> promise) {
        StackReserve.requireLarge();
        Thread waiting = Thread.currentThread();
        return Subscription.of(promise, () -> LockSupport.unpark(waiting));
    }

    private static void throwIfInterrupted(Subscription subscription) throws InterruptedException {
        if (Thread.interrupted()) {
            subscription.cancel();
            throw new InterruptedException("interrupted in await");
        }
    }

    private static void requireAnotherThread(LoopPromise<?> promise) {
        if (promise.home.host.mustNotBlock()) {
            throw new WrongThreadException(
                    "await on "
                            + Thread.currentThread()
                            + ", which has to settle "
                            + promise
                            + ": it would wait for itself; go on with then, or wait in promisify");
        }
    }

    private static <T extends @Nullable Object> T result(LoopPromise<T> settled) {
        if (settled.isResolved()) {
            return settled.resolvedValue();
        }
        throw new CompletionException(settled.reason());
    }
}
