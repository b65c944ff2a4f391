package dev.gyre.internal.cancel;

/// Where a token hears from, while it has listeners. Called with the lock of its [CancellationState] held, so that
/// hearing and having listeners do not part.
interface ListenerLifecycle {
    /// Of a token that is told directly.
    ListenerLifecycle NONE =
            new ListenerLifecycle() {
                @Override
                public boolean attach() {
                    return true;
                }

                @Override
                public void detach() {}
            };

    /// The first listener is about to come. If this throws, it does not.
    ///
    /// @return false if there is nothing to wait for, the token being cancelled already
    boolean attach();

    /// The last listener has gone. May be called again.
    void detach();
}
