package dev.gyre.internal.backend;

/// How a kernel is told what to watch: the part of [Registrations] that differs between kernels.
///
/// Called under the lock of the registrations it belongs to, so that memory and errno of its own
/// need no other guard. Results are zero or `-errno`.
public interface InterestUpdater {
    /// The call that [#arm] makes, as users know it from the manual.
    ///
    /// @param registering whether the number is new, or known and to be changed
    String call(boolean registering);

    /// Looks at what is about to be registered.
    ///
    /// @return a tag from 0 to 127 for events of the registration to carry, or `-errno` to refuse
    default int examine(int number) {
        return 0;
    }

    /// Whether events that are on their way from before a change must not be taken for ones that
    /// came after. The kernel then has to report anew what lasts.
    default boolean isStaleAfter(int interestBefore, int interestAfter) {
        return false;
    }

    /// Has events reported, instead of whatever was reported of that number before.
    ///
    /// @param data what each of the events carries
    int arm(boolean registering, int number, long data, int interest);

    /// Has nothing reported any more. What the kernel says to it makes no difference: our table
    /// rules.
    void disarm(int number);
}
