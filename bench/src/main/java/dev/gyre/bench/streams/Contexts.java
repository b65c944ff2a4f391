package dev.gyre.bench.streams;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// Creates the SSL contexts of both ends.
final class Contexts {
    /// The password of a key that is generated for one run.
    static final String PASSWORD = "benchmark";

    private static final String PROTOCOL = "TLSv1.3";

    private Contexts() {}

    static SSLContext server(Path pkcs12) throws GeneralSecurityException, IOException {
        char[] password = PASSWORD.toCharArray();
        KeyStore keys = KeyStore.getInstance(pkcs12.toFile(), password);
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, password);
        SSLContext context = SSLContext.getInstance(PROTOCOL);
        context.init(managers.getKeyManagers(), null, new SecureRandom());
        return context;
    }

    static SSLContext client() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance(PROTOCOL);
        context.init(null, new TrustManager[] {new Trusting()}, new SecureRandom());
        return context;
    }

    static SSLEngine serverEngine(SSLContext context) {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setEnabledProtocols(new String[] {PROTOCOL});
        return engine;
    }

    /// @param suite the only offered cipher suite
    static SSLEngine clientEngine(SSLContext context, String suite) {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(true);
        engine.setEnabledProtocols(new String[] {PROTOCOL});
        engine.setEnabledCipherSuites(new String[] {suite});
        return engine;
    }

    /// Trusts every certificate: the server runs on this machine.
    private static final class Trusting implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
