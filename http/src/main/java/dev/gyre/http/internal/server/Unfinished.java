package dev.gyre.http.internal.server;

/// Content of an answer that is not with the stream as a whole yet.
///
/// Loop thread only.
interface Unfinished {
    /// There is room again.
    void writable();

    /// The connection was closed before the end.
    void lost();
}
