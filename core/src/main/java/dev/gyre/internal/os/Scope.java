package dev.gyre.internal.os;

/// What a watch watches.
sealed interface Scope permits DirectoryScope, DirectoryTree {
    /// Begins to watch.
    ///
    /// @throws RuntimeException if something cannot be watched; [#release] is to be called then
    ///     too
    void open();

    /// Ends all watching. Idempotent.
    void release();

    /// Events were lost: makes the watching complete again, and finds out whether what is watched
    /// is still there.
    ///
    /// @return whether it is
    boolean recover();

    /// All events that there were have been understood: the time to look whether they led to what
    /// is there.
    ///
    /// @param isLastLook whether a difference counts even if an event that explains it may have
    ///     come just now
    /// @return whether that is certain; if not, it takes another read
    boolean verify(boolean isLastLook);
}
