package dev.gyre.io;

import org.jspecify.annotations.Nullable;

import java.security.cert.X509Certificate;
import java.util.List;

/// What a TLS handshake has agreed on.
///
/// @param version such as `TLSv1.3`
/// @param cipherSuite its name
/// @param protocol the application's protocol by ALPN; null if none was agreed on
/// @param serverName the name that the client asked for; null if it asked for none
/// @param peerCertificates the peer's own first; empty if it showed none
/// @param resumed whether an earlier session was taken up again
public record TlsSession(
        String version,
        String cipherSuite,
        @Nullable String protocol,
        @Nullable String serverName,
        List<X509Certificate> peerCertificates,
        boolean resumed) {
    public TlsSession {
        peerCertificates = List.copyOf(peerCertificates);
    }
}
