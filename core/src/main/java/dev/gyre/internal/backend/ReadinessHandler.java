package dev.gyre.internal.backend;

/// What is called when a registered descriptor is ready. One event may call for several callbacks, which the
/// loop runs one by one, and between which it may do other things or leave `run`.
///
/// Loop thread only.
@FunctionalInterface
public interface ReadinessHandler {
    /// The callbacks of an event, as bits. They run in this order.
    int ERROR = 1;

    int READ = 2;
    int WRITE = 4;

    /// Takes an event.
    ///
    /// @param ready the event, as bits of [Ready]
    /// @return the callbacks that it calls for; zero to drop it
    default int take(int ready) {
        return READ;
    }

    /// Whether a callback that the event called for is still wanted: earlier ones may have changed that.
    default boolean wants(int callback) {
        return true;
    }

    /// Runs one callback. It is user code, and may throw anything.
    void run(int callback);

    /// Whether it is the owner of a [Request] that is through, rather than of a descriptor that is ready.
    default boolean isCompletion() {
        return false;
    }

    /// A request of its own came to its end after the loop had: frees what that brought. Any thread.
    ///
    /// @param result of the request
    default void abandoned(long result) {}

    /// All callbacks of the event have been run or are no longer wanted.
    default void finish() {}
}
