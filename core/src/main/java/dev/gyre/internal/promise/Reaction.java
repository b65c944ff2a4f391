package dev.gyre.internal.promise;

/// A callback for the settlement of a promise. It runs as a microtask, because it may run user
/// code.
interface Reaction extends Runnable {
    /// A reaction without user code. It runs inside the call that settles, so that threads outside
    /// the loop do not wait for a barrier. A loop that is being closed reaches none.
    interface Internal extends Reaction {}
}
