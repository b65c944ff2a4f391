package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Calls what users have given to be called: what that throws must not reach what called it.
final class UserCallbacks {
    private UserCallbacks() {}

    /// What a callback throws; null if it returns. What the virtual machine cannot go on from is nobody's to
    /// catch.
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

    /// Tells a user something: if the callback throws that is logged, and the rest goes on.
    static <T> void tell(Consumer<? super T> callback, T value) {
        Throwable thrown = thrownBy(callback, value);
        if (thrown != null) {
            HttpLog.LOGGER.log(System.Logger.Level.ERROR, "a callback of a request failed", thrown);
        }
    }

    static void guarded(Runnable callback) {
        tell(Runnable::run, callback);
    }
}
