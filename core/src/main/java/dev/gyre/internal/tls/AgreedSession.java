package dev.gyre.internal.tls;

import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/// What a handshake has come to, from all who know a part of it.
final class AgreedSession {
    private AgreedSession() {}

    /// @param peer the server's name, for a client
    static TlsSession of(SSLEngine engine, HandshakeRecorder witness, @Nullable String peer) {
        SSLSession agreed = engine.getSession();
        String protocol = engine.getApplicationProtocol();
        return new TlsSession(
                agreed.getProtocol(),
                agreed.getCipherSuite(),
                protocol == null || protocol.isEmpty() ? null : protocol,
                engine.getUseClientMode() ? nameOf(peer) : witness.requestedName(),
                certificatesOf(agreed),
                !witness.sawCertificates());
    }

    private static @Nullable String nameOf(@Nullable String peer) {
        return peer == null || ServerName.isAddress(peer) ? null : peer;
    }

    private static List<X509Certificate> certificatesOf(SSLSession agreed) {
        List<X509Certificate> certificates = new ArrayList<>();
        try {
            for (Certificate certificate : agreed.getPeerCertificates()) {
                certificates.add((X509Certificate) certificate);
            }
        } catch (SSLPeerUnverifiedException e) {
            return List.of(); // it showed none
        }
        return certificates;
    }
}
