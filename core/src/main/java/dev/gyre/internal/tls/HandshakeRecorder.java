package dev.gyre.internal.tls;

import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.StandardConstants;

/// Records two facts of a handshake that the engine does not report. One is the requested server
/// name, which is needed before the session exists. The other is whether certificates were used,
/// which tells a new session from a resumed one.
///
/// Session ids change in TLS 1.3, and creation times are too coarse and kept in the ticket, so
/// neither identifies a resumed session. The engine consults its key and trust managers only in a
/// full handshake, and only in delegated tasks, on the thread that runs them.
final class HandshakeRecorder extends SNIMatcher {
    private static final ScopedValue<HandshakeRecorder> CURRENT = ScopedValue.newInstance();

    // Shared: written by the thread that runs the tasks, read by the loop after their completion.
    private boolean sawCertificates;
    private @Nullable String requestedName;

    HandshakeRecorder() {
        super(StandardConstants.SNI_HOST_NAME);
    }

    /// Accepts every name, as the key manager selects the certificate. Ignores malformed names.
    @Override
    public boolean matches(SNIServerName name) {
        requestedName = canonicalOrNull(new String(name.getEncoded(), StandardCharsets.UTF_8));
        return true;
    }

    /// Parses the first record of a client before the engine receives it.
    void noteHello(ByteBuffer record) {
        String name = ClientHello.serverName(record);
        requestedName = name == null ? null : canonicalOrNull(name);
    }

    private static @Nullable String canonicalOrNull(String name) {
        try {
            return ServerName.canonical(name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// The name that the current handshake requests; null if absent.
    static @Nullable String currentRequestedName() {
        return CURRENT.isBound() ? CURRENT.get().requestedName : null;
    }

    /// Runs delegated tasks with this recorder as the current one.
    void run(Runnable tasks) {
        ScopedValue.where(CURRENT, this).run(tasks);
    }

    /// A certificate is about to be sent or checked.
    static void noteCertificate() {
        if (CURRENT.isBound()) {
            CURRENT.get().sawCertificates = true;
        }
    }

    /// @param server the server's name, for a client
    TlsSession session(SSLEngine engine, @Nullable String server) {
        SSLSession agreed = engine.getSession();
        String protocol = engine.getApplicationProtocol();
        String asked = server == null || ServerName.isAddress(server) ? null : server;
        return new TlsSession(
                agreed.getProtocol(),
                agreed.getCipherSuite(),
                protocol == null || protocol.isEmpty() ? null : protocol,
                engine.getUseClientMode() ? asked : requestedName,
                certificatesOf(agreed),
                !sawCertificates);
    }

    private static List<X509Certificate> certificatesOf(SSLSession agreed) {
        List<X509Certificate> certificates = new ArrayList<>();
        try {
            for (Certificate certificate : agreed.getPeerCertificates()) {
                certificates.add((X509Certificate) certificate);
            }
        } catch (SSLPeerUnverifiedException e) {
            return List.of(); // The peer sent no certificate.
        }
        return certificates;
    }
}
