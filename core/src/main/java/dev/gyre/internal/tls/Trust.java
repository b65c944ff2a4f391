package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;

import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/// Whose certificates are believed.
sealed interface Trust {
    X509ExtendedTrustManager load() throws IOException;

    /// Those that the JDK believes.
    enum OfTheSystem implements Trust {
        INSTANCE;

        @Override
        public X509ExtendedTrustManager load() throws IOException {
            return manager(null, "the JDK's own trust");
        }
    }

    /// Those in a PEM file, and whoever has a certificate of theirs.
    record InFile(Path pem) implements Trust {
        @Override
        public X509ExtendedTrustManager load() throws IOException {
            List<X509Certificate> certificates = Identity.certificates(Pem.read(pem), pem);
            try {
                KeyStore store = KeyStore.getInstance("PKCS12");
                store.load(null, null);
                for (int i = 0; i < certificates.size(); i++) {
                    store.setCertificateEntry("trusted-" + i, certificates.get(i));
                }
                return manager(store, pem.toString());
            } catch (GeneralSecurityException e) {
                throw new SSLException(pem + ": cannot be trusted: " + e.getMessage(), e);
            }
        }
    }

    /// Whoever comes.
    enum Anybody implements Trust {
        INSTANCE;

        @Override
        public X509ExtendedTrustManager load() {
            return new UnverifiedTrust();
        }
    }

    private static X509ExtendedTrustManager manager(@Nullable KeyStore store, String origin)
            throws SSLException {
        try {
            TrustManagerFactory factory =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager found) {
                    return new RecordedTrust(found);
                }
            }
        } catch (GeneralSecurityException e) {
            throw new SSLException(origin + " cannot be loaded: " + e.getMessage(), e);
        }
        throw new SSLException(origin + " has no trust manager for certificates");
    }
}
