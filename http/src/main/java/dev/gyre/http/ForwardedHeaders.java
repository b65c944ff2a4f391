package dev.gyre.http;

/// The headers by which trusted proxies describe the client: see
/// [HttpConfig#withForwardedHeaders].
///
/// Choose the kind that the proxy writes. A proxy passes on the other kind as the client sent it,
/// so the server ignores it.
///
/// **Threads.** Any.
public enum ForwardedHeaders {
    /// `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`, as nginx, HAProxy and most
    /// load balancers send them.
    X_FORWARDED,

    /// `Forwarded`, as in RFC 7239.
    FORWARDED
}
