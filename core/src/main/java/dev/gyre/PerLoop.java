package dev.gyre;

import dev.gyre.internal.group.LoopValues;

/// One value per loop of a [LoopGroup]: see [LoopGroup#perLoop].
///
/// A value belongs to its loop: callbacks of the loop may use it without a lock.
///
/// **Threads.** Any. The value itself usually belongs to the loop thread.
public sealed interface PerLoop<T> permits LoopValues {
    /// Returns the value of a loop. Constant time.
    ///
    /// @throws IllegalArgumentException if the loop is not a current loop of the group
    T get(EventLoop loop);
}
