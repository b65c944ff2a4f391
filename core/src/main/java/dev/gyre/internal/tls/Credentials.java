package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Map;

import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/// Who one is and whom one believes, as loaded last. All that was learned with it, the sessions to resume, is in the same
/// context and goes with it: what a new trust would refuse is not let in by an old ticket.
final class Credentials {
    /// Where everything comes from.
    ///
    /// @param own null for a client without a certificate
    /// @param byName by canonical pattern
    record Sources(@Nullable IdentitySource own, Map<String, IdentitySource> byName, Trust trust) {
        Sources {
            byName = Map.copyOf(byName);
        }

        Sources withOwn(IdentitySource own) {
            return new Sources(own, byName, trust);
        }

        Sources withName(String pattern, IdentitySource source) {
            Map<String, IdentitySource> more = new HashMap<>(byName);
            more.put(pattern, source);
            return new Sources(own, more, trust);
        }

        Sources withTrust(Trust trust) {
            return new Sources(own, byName, trust);
        }
    }

    private final Sources sources;

    // Shared: written by whoever reloads, under this object's lock; read by every new connection.
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

    /// Loads everything again, or leaves all as it is.
    synchronized void reload() throws IOException {
        context = load(sources);
    }

    private static SSLContext load(Sources sources) throws IOException {
        Identity own = sources.own() == null ? null : sources.own().load();
        Map<String, Identity> byName = new HashMap<>();
        for (Map.Entry<String, IdentitySource> entry : sources.byName().entrySet()) {
            byName.put(entry.getKey(), entry.getValue().load());
        }
        X509ExtendedTrustManager trust = sources.trust().load();
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    new KeyManager[] {new KeysByName(own, byName)},
                    new TrustManager[] {trust},
                    null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new SSLException("this JDK has no TLS: " + e.getMessage(), e);
        }
    }
}
