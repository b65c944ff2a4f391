package dev.gyre;

import java.io.Serial;
import java.util.List;

/// Thrown if all promises passed to [Promise#any] were rejected. The reasons are also added as
/// suppressed exceptions, so a logged stack trace shows them.
public final class AllRejectedException extends RuntimeException {
    @Serial private static final long serialVersionUID = 1;

    // An unmodifiable list of throwables, which are serializable.
    @SuppressWarnings("serial")
    private final List<Throwable> reasons;

    /// @param reasons one for each promise, in the order of the promises
    public AllRejectedException(List<Throwable> reasons) {
        super(
                reasons.isEmpty()
                        ? "no promise to wait for"
                        : "all promises were rejected, " + reasons.size() + " of them");
        this.reasons = List.copyOf(reasons);
        this.reasons.forEach(this::addSuppressed);
    }

    /// Returns one reason per promise, in the order of the promises.
    public List<Throwable> reasons() {
        return reasons;
    }
}
