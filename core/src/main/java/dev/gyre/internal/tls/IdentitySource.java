package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import javax.net.ssl.SSLException;

/// Where an [Identity] comes from, now and when it is loaded again.
sealed interface IdentitySource {
    Identity load() throws IOException;

    /// Two PEM files, or one with both.
    record PemFiles(Path chain, Path key, Password password) implements IdentitySource {
        @Override
        public Identity load() throws IOException {
            List<Pem.Block> chainBlocks = Pem.read(chain);
            List<Pem.Block> keyBlocks = key.equals(chain) ? chainBlocks : Pem.read(key);
            String origin = key.equals(chain) ? chain.toString() : chain + " and " + key;
            return Identity.of(
                    Identity.certificates(chainBlocks, chain),
                    PrivateKeys.among(keyBlocks, key, password.chars()),
                    origin);
        }
    }

    /// A PKCS#12 file with one key.
    record Pkcs12File(Path file, Password password) implements IdentitySource {
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
                                + ": is no PKCS#12 file: "
                                + e.getMessage()
                                + "; PEM files are given without a password, or with their key",
                        e);
            } catch (GeneralSecurityException e) {
                throw new SSLException(file + ": its key cannot be read: " + e.getMessage(), e);
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
                                + ": must hold one private key with its certificates, but holds "
                                + (aliases.isEmpty() ? "none" : String.join(", ", aliases)));
            }
            return aliases.getFirst();
        }
    }

    /// One that was made here, and stays the same.
    record Made(Identity identity) implements IdentitySource {
        @Override
        public Identity load() {
            return identity;
        }
    }

    /// A password, or none. Kept for loading the file again; never printed.
    final class Password {
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
