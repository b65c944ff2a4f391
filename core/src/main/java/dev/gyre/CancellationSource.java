package dev.gyre;

import dev.gyre.internal.cancel.SourceToken;

import java.util.Objects;

/// The end of a [Cancellation] that cancels it. Whoever holds the cancellation alone cannot.
///
/// ```java
/// var source = new CancellationSource();
/// Thread.startVirtualThread(() -> search(source.cancellation()));
/// source.cancel("found elsewhere");
/// ```
///
/// **Threads.** All methods may be called from any thread.
///
/// **Order and failure.** The one call that cancels runs the callbacks, in order of registration, before
/// it returns; then it throws what the first of those threw that failed. All other calls
/// return at once, also while callbacks still run.
public final class CancellationSource {
    private final SourceToken own;
    private final Cancellation cancellation;

    /// A source whose cancellation nothing else cancels.
    public CancellationSource() {
        own = new SourceToken();
        cancellation = own;
    }

    private CancellationSource(Cancellation[] parents) {
        own = new SourceToken();
        // First, so that its reason counts when a parent is cancelled afterwards.
        Cancellation[] all = new Cancellation[parents.length + 1];
        all[0] = own;
        System.arraycopy(parents, 0, all, 1, parents.length);
        cancellation = Cancellation.anyOf(all);
    }

    /// A source whose cancellation is also cancelled as soon as one of the parents is. Cancelling it
    /// leaves the parents as they are.
    public static CancellationSource linkedTo(Cancellation... parents) {
        return new CancellationSource(parents);
    }

    /// What this source cancels, always the same one.
    public Cancellation cancellation() {
        return cancellation;
    }

    /// Cancels without a particular reason. See [#cancel(String)].
    public boolean cancel() {
        return isUndecided() && cancelFor(new CancelledException("cancelled"));
    }

    /// Cancels, unless it is cancelled already.
    ///
    /// @return true for the one call whose reason is the cancellation's from now on
    public boolean cancel(String reason) {
        Objects.requireNonNull(reason, "reason");
        return isUndecided() && cancelFor(new CancelledException(reason));
    }

    /// Cancels because of something that happened, which becomes the reason's cause. See
    /// [#cancel(String)].
    public boolean cancel(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        return isUndecided() && cancelFor(new CancelledException("cancelled by " + cause, cause));
    }

    private boolean isUndecided() {
        return !cancellation.isCancelled();
    }

    @SuppressWarnings("ReferenceEquality") // two calls may name equal reasons
    private boolean cancelFor(CancelledException reason) {
        // A parent may have been quicker since the look: then its reason is the one that counts.
        return own.cancel(reason) && cancellation.reason() == reason;
    }
}
