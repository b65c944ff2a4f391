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

/// Knows of a handshake what the engine does not tell: which name was asked for, before there is a session that could say
/// so, and whether certificates were shown, which is how a resumed session is told from a new one.
///
/// Session ids and creation times do not tell: those of TLS 1.3 change, and these are kept in the ticket and
/// have a clock's grain. But keys and trust are asked for a session exactly when the handshake is a full one, and always
/// within the engine's delegated tasks, so on the thread that runs them.
final class HandshakeRecorder extends SNIMatcher {
    private static final ScopedValue<HandshakeRecorder> CURRENT = ScopedValue.newInstance();

    // Written by whoever runs the tasks, read by the loop when they are done: the hand-over orders
    // both.
    private boolean sawCertificates;
    private @Nullable String requestedName;

    HandshakeRecorder() {
        super(StandardConstants.SNI_HOST_NAME);
    }

    /// Accepts every name: the choice of a certificate is the answer. One that no certificate could have is as none.
    @Override
    public boolean matches(SNIServerName name) {
        requestedName = canonicalOrNull(new String(name.getEncoded(), StandardCharsets.UTF_8));
        return true;
    }

    /// The first record of a client is about to be given to the engine.
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

    /// The name that is asked for in the handshake at hand; null if there is none.
    static @Nullable String currentRequestedName() {
        return CURRENT.isBound() ? CURRENT.get().requestedName : null;
    }

    /// Runs delegated tasks in its presence.
    void run(Runnable tasks) {
        ScopedValue.where(CURRENT, this).run(tasks);
    }

    /// A certificate is about to be shown, or looked at.
    static void noteCertificate() {
        if (CURRENT.isBound()) {
            CURRENT.get().sawCertificates = true;
        }
    }

    // ------------------------------------------------------------------ the outcome

    /// Describes the session once the handshake is complete.
    ///
    /// @param server the server's name, for a client
    TlsSession session(SSLEngine engine, @Nullable String server) {
        SSLSession agreed = engine.getSession();
        String protocol = engine.getApplicationProtocol();
        return new TlsSession(
                agreed.getProtocol(),
                agreed.getCipherSuite(),
                protocol == null || protocol.isEmpty() ? null : protocol,
                engine.getUseClientMode() ? nameOf(server) : requestedName,
                certificatesOf(agreed),
                !sawCertificates);
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
