package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.List;

import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.net.ssl.SSLException;

/// Reads private keys from PEM blocks. The JDK reads PKCS#8 only, so PKCS#1 and SEC1 keys are
/// converted.
final class PrivateKeys {
    private static final String RSA = "1.2.840.113549.1.1.1";
    private static final String RSASSA_PSS = "1.2.840.113549.1.1.10";
    private static final String EC = "1.2.840.10045.2.1";
    private static final String ED25519 = "1.3.101.112";
    private static final String ED448 = "1.3.101.113";
    private static final String PBES2 = "1.2.840.113549.1.5.13";

    private PrivateKeys() {}

    /// Returns all private keys, at least one.
    static List<PrivateKey> among(List<Pem.Block> blocks, Path file, char @Nullable [] password)
            throws IOException {
        List<PrivateKey> keys = new ArrayList<>();
        byte @Nullable [] curve = null;
        for (Pem.Block block : blocks) {
            if (block.label().equals("EC PARAMETERS")) {
                curve = block.bytes();
            } else if (block.isPrivateKey()) {
                keys.add(key(block, curve, file, password));
            }
        }
        if (keys.isEmpty()) {
            throw new SSLException(
                    file
                            + ": contains no private key (-----BEGIN PRIVATE KEY-----): "
                            + Pem.describe(file, blocks));
        }
        return keys;
    }

    private static PrivateKey key(
            Pem.Block block, byte @Nullable [] curve, Path file, char @Nullable [] password)
            throws SSLException {
        if (block.legacyEncrypted()) {
            throw new SSLException(
                    file
                            + ": the key has OpenSSL's legacy encryption, which is weak: convert it"
                            + " with `openssl pkcs8 -topk8 -in "
                            + file.getFileName()
                            + "`");
        }
        try {
            return switch (block.label()) {
                case "PRIVATE KEY" -> fromPkcs8(block.bytes());
                case "RSA PRIVATE KEY" -> fromPkcs8(asPkcs8(RSA, Der.nullValue(), block.bytes()));
                case "EC PRIVATE KEY" ->
                        fromPkcs8(asPkcs8(EC, curveOf(block.bytes(), curve), block.bytes()));
                case "ENCRYPTED PRIVATE KEY" -> fromPkcs8(decrypted(block.bytes(), file, password));
                default ->
                        throw new SSLException(
                                file
                                        + ": keys of type "
                                        + block.label()
                                        + " are not supported: use RSA, EC or Ed25519");
            };
        } catch (GeneralSecurityException e) {
            throw new SSLException(
                    file + ": the block " + block.label() + " is malformed: " + e.getMessage(), e);
        }
    }

    private static PrivateKey fromPkcs8(byte[] encoded) throws GeneralSecurityException {
        ByteBuffer info = Der.next(ByteBuffer.wrap(encoded)).require(Der.SEQUENCE).content();
        Der.next(info).require(Der.INTEGER); // the version
        String oid = Der.next(Der.next(info).require(Der.SEQUENCE).content()).asOid();
        String algorithm =
                switch (oid) {
                    case RSA -> "RSA";
                    case RSASSA_PSS -> "RSASSA-PSS";
                    case EC -> "EC";
                    case ED25519, ED448 -> "EdDSA";
                    default ->
                            throw new InvalidKeyException(
                                    "keys of algorithm "
                                            + oid
                                            + " are not supported: use RSA, EC or Ed25519");
                };
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
    }

    private static byte[] asPkcs8(String algorithm, byte[] parameters, byte[] key) {
        return Der.sequence(
                Der.integer(BigInteger.ZERO),
                Der.sequence(Der.oid(algorithm), parameters),
                Der.octets(key));
    }

    /// The curve is in the key itself, or in a separate block before it, as older tools write it.
    private static byte[] curveOf(byte[] key, byte @Nullable [] before)
            throws GeneralSecurityException {
        ByteBuffer parts = Der.next(ByteBuffer.wrap(key)).require(Der.SEQUENCE).content();
        while (parts.hasRemaining()) {
            Der.Value part = Der.next(parts);
            if (part.isExplicit(0)) {
                return part.bytes();
            }
        }
        if (before == null) {
            throw new InvalidKeyException("the key does not name its curve");
        }
        return before;
    }

    private static byte[] decrypted(byte[] encoded, Path file, char @Nullable [] password)
            throws SSLException, GeneralSecurityException {
        if (password == null) {
            throw new SSLException(
                    file
                            + ": the key is encrypted: pass its password, or remove the encryption"
                            + " with `openssl pkey -in "
                            + file.getFileName()
                            + "`");
        }
        PBEKeySpec spec = new PBEKeySpec(password);
        try {
            EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(encoded);
            // For PBES2, the JDK reports the actual algorithm only through the parameters.
            boolean newer = info.getAlgName().equals("PBES2") || info.getAlgName().equals(PBES2);
            String name = newer ? info.getAlgParameters().toString() : info.getAlgName();
            Key secret = SecretKeyFactory.getInstance(name).generateSecret(spec);
            Cipher cipher = Cipher.getInstance(name);
            cipher.init(Cipher.DECRYPT_MODE, secret, info.getAlgParameters());
            return cipher.doFinal(info.getEncryptedData());
        } catch (BadPaddingException e) {
            throw new SSLException(file + ": the key cannot be decrypted: wrong password?", e);
        } catch (IOException e) {
            throw new InvalidKeyException(e.getMessage(), e);
        } finally {
            spec.clearPassword();
        }
    }
}
