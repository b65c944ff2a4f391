package dev.gyre.io;

/// Reports the outcome of the connections that were open when [Listener#drain] began.
///
/// @param finished connections closed before the deadline, by either side and for any reason
/// @param cut connections reset at the deadline
public record DrainReport(int finished, int cut) {
    /// Returns whether every connection was closed before the deadline.
    public boolean isComplete() {
        return cut == 0;
    }
}
