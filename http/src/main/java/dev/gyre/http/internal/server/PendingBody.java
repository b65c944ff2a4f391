package dev.gyre.http.internal.server;

/// A response body of which the stream does not have everything yet.
///
/// Loop thread only.
interface PendingBody {
    /// Called when the stream accepts more output.
    void writable();

    /// Called when the connection is closed before the end.
    void lost();
}
