package dev.gyre.io;

/// The outcome of the connections that were open when [Listener#drain] began.
///
/// @param finished connections that were closed before the deadline, by either side and for any reason
/// @param cut connections that were reset at the deadline
public record DrainReport(int finished, int cut) {
    /// Whether every connection was closed before the deadline.
    public boolean isComplete() {
        return cut == 0;
    }
}
