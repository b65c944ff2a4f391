package dev.gyre.internal.tls;

import static dev.gyre.internal.base.Log.LOG;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import javax.net.ssl.SSLException;

/// A private key and its certificate chain: its own certificate first, each issued by the next.
record Identity(List<X509Certificate> chain, PrivateKey key) {
    Identity {
        chain = List.copyOf(chain);
    }

    /// Finds the certificate of a key, and orders its issuers.
    ///
    /// @param origin names the files in messages
    static Identity of(List<X509Certificate> certificates, List<PrivateKey> keys, String origin)
            throws SSLException {
        for (PrivateKey key : keys) {
            for (X509Certificate certificate : certificates) {
                if (matches(key, certificate.getPublicKey())) {
                    Identity found = new Identity(chainOf(certificate, certificates, origin), key);
                    warnUnlessValid(certificate, origin);
                    return found;
                }
            }
        }
        throw new SSLException(
                origin
                        + ": the private key ("
                        + keys.getFirst().getAlgorithm()
                        + ") does not match the certificate ("
                        + certificates.getFirst().getPublicKey().getAlgorithm()
                        + ", "
                        + certificates.getFirst().getSubjectX500Principal()
                        + "): use the key that the certificate was requested with");
    }

    /// Returns all certificates of a file, at least one.
    static List<X509Certificate> certificates(List<Pem.Block> blocks, Path file)
            throws IOException {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Pem.Block block : blocks) {
            if (block.isCertificate()) {
                certificates.add(certificate(block.bytes(), file));
            }
        }
        if (certificates.isEmpty()) {
            throw new SSLException(
                    file
                            + ": contains no certificate (-----BEGIN CERTIFICATE-----): "
                            + Pem.describe(file, blocks));
        }
        return certificates;
    }

    private static X509Certificate certificate(byte[] encoded, Path file) throws SSLException {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509")
                            .generateCertificate(new ByteArrayInputStream(encoded));
        } catch (CertificateException e) {
            throw new SSLException(
                    file + ": the block CERTIFICATE is malformed: " + e.getMessage(), e);
        }
    }

    /// Signs and verifies a sample, which is the only comparison that works for every algorithm.
    private static boolean matches(PrivateKey key, PublicKey of) {
        if (!key.getAlgorithm().equals(of.getAlgorithm())) {
            return false;
        }
        byte[] sample = new byte[32];
        try {
            Signature signature = signature(key.getAlgorithm());
            signature.initSign(key);
            signature.update(sample);
            byte[] signed = signature.sign();
            signature.initVerify(of);
            signature.update(sample);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false; // For example, the curves differ.
        }
    }

    private static Signature signature(String algorithm) throws GeneralSecurityException {
        return switch (algorithm) {
            case "RSA" -> Signature.getInstance("SHA256withRSA");
            case "EC" -> Signature.getInstance("SHA256withECDSA");
            case "RSASSA-PSS" -> {
                Signature signature = Signature.getInstance("RSASSA-PSS");
                signature.setParameter(
                        new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
                yield signature;
            }
            default -> Signature.getInstance(algorithm);
        };
    }

    private static List<X509Certificate> chainOf(
            X509Certificate own, List<X509Certificate> certificates, String origin) {
        Set<X509Certificate> chain = new LinkedHashSet<>();
        X509Certificate last = own;
        while (chain.add(last)) {
            for (X509Certificate candidate : certificates) {
                if (!chain.contains(candidate) && isIssuer(candidate, last)) {
                    last = candidate;
                    break;
                }
            }
        }
        long others = certificates.stream().distinct().count() - chain.size();
        if (others > 0) {
            LOG.log(
                    Level.WARNING,
                    origin
                            + ": ignored certificates that are not issuers of "
                            + own.getSubjectX500Principal()
                            + ": "
                            + others
                            + "; is an intermediate certificate missing?");
        }
        return List.copyOf(chain);
    }

    private static boolean isIssuer(X509Certificate issuer, X509Certificate certificate) {
        if (!issuer.getSubjectX500Principal().equals(certificate.getIssuerX500Principal())) {
            return false;
        }
        try {
            certificate.verify(issuer.getPublicKey());
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    /// Only warns: the local clock may be wrong, and some peers do not check.
    private static void warnUnlessValid(X509Certificate own, String origin) {
        Instant now = Instant.now();
        String wrong;
        if (now.isAfter(own.getNotAfter().toInstant())) {
            wrong = " expired on " + own.getNotAfter().toInstant() + ": peers will reject it";
        } else if (now.isBefore(own.getNotBefore().toInstant())) {
            wrong =
                    " is not valid before "
                            + own.getNotBefore().toInstant()
                            + ": peers will reject it until then";
        } else {
            return;
        }
        LOG.log(
                Level.WARNING,
                origin + ": the certificate of " + own.getSubjectX500Principal() + wrong);
    }

    /// Loads an identity, initially and at each reload.
    sealed interface Source {
        Identity load() throws IOException;
    }

    /// Two PEM files, or one that contains both.
    record PemFiles(Path chain, Path key, Password password) implements Source {
        PemFiles {
            Objects.requireNonNull(chain, "chain");
            Objects.requireNonNull(key, "key");
        }

        @Override
        public Identity load() throws IOException {
            List<Pem.Block> chainBlocks = Pem.read(chain);
            List<Pem.Block> keyBlocks = key.equals(chain) ? chainBlocks : Pem.read(key);
            String origin = key.equals(chain) ? chain.toString() : chain + " and " + key;
            return Identity.of(
                    certificates(chainBlocks, chain),
                    PrivateKeys.among(keyBlocks, key, password.chars()),
                    origin);
        }
    }

    /// A PKCS#12 file with one private key.
    record Pkcs12File(Path file, Password password) implements Source {
        Pkcs12File {
            Objects.requireNonNull(file, "file");
        }

        @Override
        public Identity load() throws IOException {
            byte[] bytes = Pem.bytes(file);
            try {
                KeyStore store = KeyStore.getInstance("PKCS12");
                store.load(new ByteArrayInputStream(bytes), password.chars());
                String alias = onlyKey(store);
                PrivateKey key = (PrivateKey) store.getKey(alias, password.chars());
                List<X509Certificate> chain = new ArrayList<>();
                for (Certificate certificate : store.getCertificateChain(alias)) {
                    chain.add((X509Certificate) certificate);
                }
                return Identity.of(chain, List.of(key), file.toString());
            } catch (IOException e) {
                if (e.getCause() instanceof UnrecoverableKeyException) {
                    throw new SSLException(file + ": wrong password", e);
                }
                if (e instanceof SSLException) {
                    throw e;
                }
                throw new SSLException(
                        file
                                + ": is not a PKCS#12 file: "
                                + e.getMessage()
                                + "; for PEM files, pass both the certificate and the key file",
                        e);
            } catch (GeneralSecurityException e) {
                throw new SSLException(file + ": cannot read its key: " + e.getMessage(), e);
            }
        }

        private String onlyKey(KeyStore store) throws GeneralSecurityException, SSLException {
            List<String> aliases = new ArrayList<>();
            for (String alias : Collections.list(store.aliases())) {
                if (store.isKeyEntry(alias)) {
                    aliases.add(alias);
                }
            }
            if (aliases.size() != 1) {
                throw new SSLException(
                        file
                                + ": must contain one private key with its chain, but contains "
                                + (aliases.isEmpty() ? "none" : String.join(", ", aliases)));
            }
            return aliases.getFirst();
        }
    }

    /// A generated identity, which a reload does not change.
    record Fixed(Identity identity) implements Source {
        @Override
        public Identity load() {
            return identity;
        }
    }

    /// An optional password, kept for reloading and never printed.
    static final class Password {
        static final Password NONE = new Password(null);

        private final char @Nullable [] chars;

        private Password(char @Nullable [] chars) {
            this.chars = chars;
        }

        static Password of(char[] chars) {
            return new Password(chars.clone());
        }

        char @Nullable [] chars() {
            return chars;
        }

        @Override
        public String toString() {
            return chars == null ? "no password" : "a password";
        }
    }
}
