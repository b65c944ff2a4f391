package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/// The identities and trusted certificates, as last loaded. Reloading replaces the whole
/// [SSLContext] with its session cache: an old ticket cannot bypass new trust settings.
final class Credentials {
    /// @param own the default identity; null for a client without a certificate
    /// @param byName identities by canonical name pattern
    /// @param trusted a PEM file of trusted certificates; null for those of the JDK
    /// @param verifies false to trust every peer
    record Sources(
            Identity.@Nullable Source own,
            Map<String, Identity.Source> byName,
            @Nullable Path trusted,
            boolean verifies) {
        Sources {
            byName = Map.copyOf(byName);
        }

        /// Trusts the certificates of the JDK.
        static Sources of(Identity.@Nullable Source own) {
            return new Sources(own, Map.of(), null, true);
        }

        Sources withOwn(Identity.Source own) {
            return new Sources(own, byName, trusted, verifies);
        }

        Sources withName(String pattern, Identity.Source source) {
            Map<String, Identity.Source> more = new HashMap<>(byName);
            more.put(pattern, source);
            return new Sources(own, more, trusted, verifies);
        }

        Sources withTrustedCertificates(Path pem) {
            return new Sources(own, byName, pem, true);
        }

        Sources withoutVerification() {
            return new Sources(own, byName, null, false);
        }
    }

    private final Sources sources;

    // Shared: written by the reloading thread under this lock, read by each new connection.
    private volatile SSLContext context;

    Credentials(Sources sources) throws IOException {
        this.sources = sources;
        this.context = load(sources);
    }

    Sources sources() {
        return sources;
    }

    SSLContext context() {
        return context;
    }

    /// Loads all sources again. Keeps the current credentials if one of them fails.
    synchronized void reload() throws IOException {
        context = load(sources);
    }

    private static SSLContext load(Sources sources) throws IOException {
        Identity own = sources.own() == null ? null : sources.own().load();
        Map<String, Identity> byName = new HashMap<>();
        for (Map.Entry<String, Identity.Source> entry : sources.byName().entrySet()) {
            byName.put(entry.getKey(), entry.getValue().load());
        }
        TrustManager trust = new RecordingTrustManager(trust(sources));
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    new KeyManager[] {new SniKeyManager(own, byName)},
                    new TrustManager[] {trust},
                    null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new SSLException("this JDK does not support TLS: " + e.getMessage(), e);
        }
    }

    private static @Nullable X509ExtendedTrustManager trust(Sources sources) throws IOException {
        if (!sources.verifies()) {
            return null;
        }
        Path pem = sources.trusted();
        String origin = pem == null ? "the trust store of the JDK" : pem.toString();
        try {
            TrustManagerFactory factory =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(pem == null ? null : keyStore(pem));
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager found) {
                    return found;
                }
            }
        } catch (GeneralSecurityException e) {
            throw new SSLException(origin + " cannot be loaded: " + e.getMessage(), e);
        }
        throw new SSLException(origin + " has no trust manager for X.509 certificates");
    }

    private static KeyStore keyStore(Path pem) throws IOException, GeneralSecurityException {
        List<X509Certificate> certificates = Identity.certificates(Pem.read(pem), pem);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (int i = 0; i < certificates.size(); i++) {
            store.setCertificateEntry("trusted-" + i, certificates.get(i));
        }
        return store;
    }

    /// Notes in the [HandshakeRecorder] that a certificate is checked, then delegates. Without a
    /// delegate it trusts every peer.
    private static final class RecordingTrustManager extends X509ExtendedTrustManager {
        private final @Nullable X509ExtendedTrustManager delegate;

        RecordingTrustManager(@Nullable X509ExtendedTrustManager delegate) {
            this.delegate = delegate;
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            HandshakeRecorder.noteCertificate();
            if (delegate != null) {
                delegate.checkServerTrusted(chain, authType, engine);
            }
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            HandshakeRecorder.noteCertificate();
            if (delegate != null) {
                delegate.checkClientTrusted(chain, authType, engine);
            }
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return delegate == null ? new X509Certificate[0] : delegate.getAcceptedIssuers();
        }

        // The JDK calls the other methods for sockets only.

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            throw engineOnly();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            throw engineOnly();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType)
                throws CertificateException {
            throw engineOnly();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType)
                throws CertificateException {
            throw engineOnly();
        }

        private static CertificateException engineOnly() {
            return new CertificateException("certificates are checked for an SSLEngine only");
        }
    }
}
