package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;

/// Selects the identity: for a server by the requested name (SNI), for a client the only one.
///
/// An unknown name gets the default identity. A client that verifies names rejects it; others are
/// served.
final class SniKeyManager extends X509ExtendedKeyManager {
    private static final String DEFAULT = "";

    private final Map<String, Identity> identities;

    /// @param own the default identity; null for a client without a certificate
    /// @param byName by canonical pattern
    SniKeyManager(@Nullable Identity own, Map<String, Identity> byName) {
        identities = new HashMap<>(byName);
        if (own != null) {
            identities.put(DEFAULT, own);
        }
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
        // Without a handshake session the engine only checks whether a ticket fits the certificate.
        if (engine.getHandshakeSession() != null) {
            HandshakeRecorder.noteCertificate();
        }
        String alias = aliasFor(HandshakeRecorder.currentRequestedName());
        Identity identity = identities.get(alias);
        return identity != null && keyType.equals(identity.key().getAlgorithm()) ? alias : null;
    }

    private String aliasFor(@Nullable String name) {
        if (name == null) {
            return DEFAULT;
        }
        if (identities.containsKey(name)) {
            return name;
        }
        String wildcard = ServerName.wildcardOf(name);
        return identities.containsKey(wildcard) ? wildcard : DEFAULT;
    }

    /// Ignores the acceptable issuers. The user configured one certificate, and the server's
    /// rejection is more informative than sending none.
    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, SSLEngine engine) {
        Identity own = identities.get(DEFAULT);
        return own != null && Arrays.asList(keyTypes).contains(own.key().getAlgorithm())
                ? DEFAULT
                : null;
    }

    @Override
    @SuppressWarnings("NullAway") // null for an unknown alias is the JDK's contract
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        Identity identity = identities.get(alias);
        return identity == null ? null : identity.chain().toArray(X509Certificate[]::new);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        Identity identity = identities.get(alias);
        return identity == null ? null : identity.key();
    }

    // The JDK calls the other methods for sockets only.

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }

    @Override
    public @Nullable String chooseServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }
}
