package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Runs callbacks of users, whose exceptions must not reach the caller.
final class UserCallbacks {
    private UserCallbacks() {}

    /// Returns the exception of a callback; `null` if it returns. Rethrows fatal errors of the
    /// virtual machine.
    static <T> @Nullable Throwable thrownBy(Consumer<? super T> callback, T value) {
        try {
            callback.accept(value);
            return null;
        } catch (Throwable e) {
            if (e instanceof VirtualMachineError && !(e instanceof StackOverflowError)) {
                throw e;
            }
            return e;
        }
    }

    /// Runs a callback, and logs its exception.
    ///
    /// @param exchange the exchange of the callback; `null` for a rejected request
    static <T> void run(Consumer<? super T> callback, T value, @Nullable Exchange exchange) {
        Throwable thrown = thrownBy(callback, value);
        if (thrown != null) {
            String request =
                    exchange == null ? "a rejected request" : exchange.completion.describe();
            HttpLog.LOGGER.log(
                    System.Logger.Level.ERROR,
                    "a callback of " + request + " threw: this does not affect the response",
                    thrown);
        }
    }

    static void guarded(Runnable callback, Exchange exchange) {
        run(Runnable::run, callback, exchange);
    }
}
