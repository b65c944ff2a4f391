package dev.gyre.internal.tls;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Generates self-signed certificates (RFC 5280) on the curve P-256, for development. The JDK has
/// no public API for that.
final class SelfSignedCertificate {
    private static final String ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
    private static final String COMMON_NAME = "2.5.4.3";
    private static final String SUBJECT_KEY_ID = "2.5.29.14";
    private static final String KEY_USAGE = "2.5.29.15";
    private static final String ALTERNATIVE_NAMES = "2.5.29.17";
    private static final String BASIC_CONSTRAINTS = "2.5.29.19";
    private static final String AUTHORITY_KEY_ID = "2.5.29.35";
    private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
    private static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

    private static final int DNS_NAME = 2;
    private static final int IP_ADDRESS = 7;

    /// The upper bound of RFC 5280.
    private static final int MAX_COMMON_NAME_CHARS = 64;

    /// Browsers accept up to 398 days.
    private static final Duration VALIDITY = Duration.ofDays(365);

    /// Tolerates peers whose clock is behind.
    private static final Duration CLOCK_SKEW = Duration.ofDays(1);

    private SelfSignedCertificate() {}

    /// @param names host names, patterns or addresses; at least one
    static Identity identity(List<String> names, Instant now) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            X509Certificate certificate = certificate(pair, names, now);
            return new Identity(List.of(certificate), pair.getPrivate());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(
                    "this JDK cannot generate EC keys on P-256: " + e.getMessage(), e);
        }
    }

    private static X509Certificate certificate(KeyPair pair, List<String> names, Instant now)
            throws GeneralSecurityException {
        byte[] algorithm = Der.sequence(Der.oid(ECDSA_WITH_SHA256));
        byte[] name = name(names.getFirst());
        byte[] content =
                Der.sequence(
                        Der.explicit(0, Der.integer(BigInteger.TWO)), // version 3
                        Der.integer(new BigInteger(126, new SecureRandom()).setBit(126)),
                        algorithm,
                        name,
                        Der.sequence(Der.time(now.minus(CLOCK_SKEW)), Der.time(now.plus(VALIDITY))),
                        name,
                        pair.getPublic().getEncoded(),
                        Der.explicit(
                                3, Der.sequence(extensions(pair.getPublic().getEncoded(), names))));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(pair.getPrivate());
        signature.update(content);
        byte[] encoded = Der.sequence(content, algorithm, Der.bits(0, signature.sign()));
        return (X509Certificate)
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(encoded));
    }

    private static byte[] name(String first) {
        String text =
                first.length() <= MAX_COMMON_NAME_CHARS
                        ? first
                        : first.substring(0, MAX_COMMON_NAME_CHARS);
        return Der.sequence(Der.set(Der.sequence(Der.oid(COMMON_NAME), Der.utf8(text))));
    }

    /// Not a certificate authority: trusting it trusts only these names.
    private static byte[][] extensions(byte[] publicKey, List<String> names)
            throws GeneralSecurityException {
        byte[] keyId = keyId(publicKey);
        byte[] digitalSignature = Der.bits(7, new byte[] {(byte) 0x80});
        return new byte[][] {
            extension(BASIC_CONSTRAINTS, true, Der.sequence()),
            extension(KEY_USAGE, true, digitalSignature),
            extension(
                    EXTENDED_KEY_USAGE,
                    false,
                    Der.sequence(Der.oid(SERVER_AUTH), Der.oid(CLIENT_AUTH))),
            extension(SUBJECT_KEY_ID, false, Der.octets(keyId)),
            extension(AUTHORITY_KEY_ID, false, Der.sequence(Der.context(0, keyId))),
            extension(ALTERNATIVE_NAMES, false, Der.sequence(alternatives(names)))
        };
    }

    private static byte[] extension(String oid, boolean critical, byte[] value) {
        return critical
                ? Der.sequence(Der.oid(oid), Der.trueValue(), Der.octets(value))
                : Der.sequence(Der.oid(oid), Der.octets(value));
    }

    /// The first 160 bits of a SHA-256 digest (RFC 7093, 2).
    private static byte[] keyId(byte[] publicKey) throws GeneralSecurityException {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(publicKey);
        return Arrays.copyOf(digest, 20);
    }

    private static byte[][] alternatives(List<String> names) {
        List<byte[]> alternatives = new ArrayList<>();
        for (String name : names) {
            alternatives.add(
                    ServerName.isAddress(name)
                            ? Der.context(IP_ADDRESS, InetAddress.ofLiteral(name).getAddress())
                            : Der.context(
                                    DNS_NAME,
                                    ServerName.canonicalPattern(name)
                                            .getBytes(StandardCharsets.US_ASCII)));
        }
        return alternatives.toArray(byte[][]::new);
    }
}
