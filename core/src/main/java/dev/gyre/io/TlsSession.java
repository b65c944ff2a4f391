package dev.gyre.io;

import org.jspecify.annotations.Nullable;

import java.security.cert.X509Certificate;
import java.util.List;

/// Describes the result of a TLS handshake.
///
/// @param version such as `TLSv1.3`
/// @param cipherSuite the name of the cipher suite
/// @param protocol the application protocol negotiated by ALPN; null if absent
/// @param serverName the server name that the client requested (SNI); null if absent
/// @param peerCertificates the certificate chain of the peer, its own first; empty if absent
/// @param resumed whether an earlier session was resumed
public record TlsSession(
        String version,
        String cipherSuite,
        @Nullable String protocol,
        @Nullable String serverName,
        List<X509Certificate> peerCertificates,
        boolean resumed) {
    /// Copies the list of certificates.
    public TlsSession {
        peerCertificates = List.copyOf(peerCertificates);
    }
}
