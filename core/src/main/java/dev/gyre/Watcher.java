package dev.gyre;

import dev.gyre.internal.io.LoopWatcher;
import dev.gyre.io.Descriptor;

/// A registration of a descriptor with a loop. It lasts from [EventLoop#watch] until the descriptor
/// is unwatched, closed or collected, or the watcher is replaced.
///
/// All methods are loop-confined: call them on the loop thread, or while the loop is not running.
///
/// Methods that return a `Watcher` return this one.
public sealed interface Watcher permits LoopWatcher {
    /// Returns the watched descriptor. The watcher references it weakly. In a callback it is always
    /// present.
    ///
    /// @throws IllegalStateException if it has been collected
    Descriptor descriptor();

    /// Returns whether the current event includes an error. Meaningful inside a callback.
    boolean isError();

    /// Returns whether the current event includes a hang-up: the peer is gone, but bytes may be
    /// left to read. Meaningful inside a callback.
    boolean isHangUp();

    /// Replaces the spec from the next event on, and arms a one-shot watcher again. Removed
    /// callbacks do not run for the current event. Existing readiness is reported, also if
    /// edge-triggered. Allocates nothing.
    ///
    /// @throws IllegalStateException if the watcher is no longer registered
    /// @throws SystemCallException if the kernel refuses; the watcher is then deregistered
    Watcher modify(WatchSpec watch);

    /// Arms a one-shot watcher again with the same spec. For other watchers, existing readiness is
    /// reported again. Throws like [#modify].
    Watcher rearm();

    /// Stops watching. Callbacks run no more, not even for an event that the kernel has reported
    /// already. Idempotent.
    void unwatch();

    /// Returns whether the watcher is registered: neither unwatched nor replaced, and its
    /// descriptor neither closed nor known to be collected.
    boolean isWatching();

    /// Returns whether the kernel may report an event: false for a one-shot watcher after its
    /// event, and while it watches nothing.
    boolean isArmed();

    /// Lets `runUntilEmpty` and `run(DRAINED)` return while this watcher is armed.
    Watcher unreference();

    /// Reverts [#unreference()].
    Watcher reference();
}
