package dev.gyre;

import dev.gyre.internal.cancel.SourceToken;

import java.util.Objects;

/// Cancels a [Cancellation]. Code that holds only the cancellation cannot cancel it.
///
/// ```java
/// var source = new CancellationSource();
/// Thread.startVirtualThread(() -> search(source.cancellation()));
/// source.cancel("found elsewhere");
/// ```
///
/// **Threads.** All methods may be called from any thread.
///
/// **Order and failure.** The first call that cancels runs the callbacks in order of registration
/// before it returns. If callbacks throw, it then throws the first of their exceptions. All other
/// calls return at once, even while callbacks run.
public final class CancellationSource {
    private final SourceToken own;
    private final Cancellation cancellation;

    /// Creates a source without parents.
    public CancellationSource() {
        own = new SourceToken();
        cancellation = own;
    }

    private CancellationSource(Cancellation[] parents) {
        own = new SourceToken();
        // First: its reason must win over a parent that is cancelled later.
        Cancellation[] all = new Cancellation[parents.length + 1];
        all[0] = own;
        System.arraycopy(parents, 0, all, 1, parents.length);
        cancellation = Cancellation.anyOf(all);
    }

    /// Creates a source whose cancellation is also cancelled as soon as one of the parents is.
    /// Cancelling it does not affect the parents.
    public static CancellationSource linkedTo(Cancellation... parents) {
        return new CancellationSource(parents);
    }

    /// Returns the cancellation of this source, always the same one.
    public Cancellation cancellation() {
        return cancellation;
    }

    /// Cancels without a specific reason. See [#cancel(String)].
    public boolean cancel() {
        return isActive() && cancelFor(new CancelledException("cancelled"));
    }

    /// Cancels, unless it is cancelled already.
    ///
    /// @return true if this call's reason is now the reason of the cancellation
    public boolean cancel(String reason) {
        Objects.requireNonNull(reason, "reason");
        return isActive() && cancelFor(new CancelledException(reason));
    }

    /// Cancels with an exception, which becomes the cause of the reason. See [#cancel(String)].
    public boolean cancel(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        return isActive() && cancelFor(new CancelledException("cancelled by " + cause, cause));
    }

    private boolean isActive() {
        return !cancellation.isCancelled();
    }

    @SuppressWarnings("ReferenceEquality") // two calls may pass equal reasons
    private boolean cancelFor(CancelledException reason) {
        // A parent cancelled since the check wins: its reason is then the effective one.
        return own.cancel(reason) && cancellation.reason() == reason;
    }
}
