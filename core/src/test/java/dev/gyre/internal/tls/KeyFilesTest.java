package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import javax.net.ssl.SSLException;

/// Key and certificate files as OpenSSL writes them, intact and damaged.
class KeyFilesTest {
    @TempDir Path directory;

    private OpenSsl openssl;

    @BeforeEach
    void prepare() {
        openssl = new OpenSsl(directory);
    }

    private Path file(String name) {
        return directory.resolve(name);
    }

    /// Serves a client that trusts the certificate.
    private static void requireUsable(Tls server) {
        TlsEnd here = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        TlsEnd there =
                new TlsEnd(
                        TlsSetup.of(Tls.client().withoutVerification())
                                .newEngine("a.test", 1, new RecordScratch()));
        TlsEnd.talk(there, here);
        assertThat(there.engine.failure()).isNull();
        assertThat(there.engine.session()).isNotNull();
    }

    private void makePair(String key) throws IOException, InterruptedException {
        openssl.run(
                "req -x509 -newkey " + key + " -nodes -subj /CN=a.test -keyout key.pem -out a.pem");
    }

    // ------------------------------------------------------------------ forms of keys

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rsa:2048",
                "rsa-pss -pkeyopt rsa_keygen_bits:2048",
                "ec -pkeyopt ec_paramgen_curve:P-256",
                "ec -pkeyopt ec_paramgen_curve:P-384",
                "ed25519",
                "ed448"
            })
    @Clause("X-1")
    void server_withAKeyInPkcs8_takesEverySort(String key)
            throws IOException, InterruptedException {
        makePair(key);

        requireUsable(Tls.server(file("a.pem"), file("key.pem")));
    }

    @Test
    @Clause("X-1")
    void server_withAnRsaKeyInPkcs1_takesIt() throws IOException, InterruptedException {
        makePair("rsa:2048");
        openssl.run("rsa -in key.pem -traditional -out old.pem");
        assertThat(file("old.pem")).content().contains("BEGIN RSA PRIVATE KEY");

        requireUsable(Tls.server(file("a.pem"), file("old.pem")));
    }

    @Test
    @Clause("X-1")
    void server_withAnEcKeyInSec1_takesItWithAndWithoutParameters()
            throws IOException, InterruptedException {
        openssl.run("ecparam -name prime256v1 -genkey -out key.pem");
        assertThat(file("key.pem"))
                .content()
                .contains("BEGIN EC PARAMETERS")
                .contains("BEGIN EC PRIVATE KEY");
        openssl.run("req -x509 -new -key key.pem -subj /CN=a.test -out a.pem");
        openssl.run("ecparam -name prime256v1 -genkey -noout -out bare.pem");
        openssl.run("req -x509 -new -key bare.pem -subj /CN=a.test -out b.pem");

        requireUsable(Tls.server(file("a.pem"), file("key.pem")));
        requireUsable(Tls.server(file("b.pem"), file("bare.pem")));
    }

    @Test
    @Clause("X-1")
    void server_withASec1KeyThatNamesNoCurve_takesItFromTheParametersBefore()
            throws IOException, InterruptedException {
        openssl.run("ecparam -name prime256v1 -genkey -out key.pem");
        openssl.run("req -x509 -new -key key.pem -subj /CN=a.test -out a.pem");
        Pem.Block key =
                Pem.read(file("key.pem")).stream().filter(Pem.Block::isPrivateKey).findAny().get();
        byte[] secret = new byte[32];
        System.arraycopy(key.bytes(), 7, secret, 0, 32);
        byte[] bare = Der.sequence(Der.integer(java.math.BigInteger.ONE), Der.octets(secret));
        String parameters = Certificates.block("EC PARAMETERS", Der.oid("1.2.840.10045.3.1.7"));
        String block = Certificates.block("EC PRIVATE KEY", bare);
        openssl.write("with.pem", parameters + block);
        openssl.write("without.pem", block);

        requireUsable(Tls.server(file("a.pem"), file("with.pem")));
        assertThatThrownBy(() -> Tls.server(file("a.pem"), file("without.pem")))
                .hasMessageContaining("without.pem")
                .hasMessageContaining("name its curve");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-v2 aes-256-cbc", "-v2 aes-128-cbc -v2prf hmacWithSHA512"})
    @Clause("X-1")
    void server_withAnEncryptedKey_wantsItsPassword(String how)
            throws IOException, InterruptedException {
        makePair("ec -pkeyopt ec_paramgen_curve:P-256");
        openssl.run("pkcs8 -topk8 -in key.pem -passout pass:secret -out locked.pem " + how);
        assertThat(file("locked.pem")).content().contains("BEGIN ENCRYPTED PRIVATE KEY");

        requireUsable(Tls.server(file("a.pem"), file("locked.pem"), "secret".toCharArray()));
        assertThatThrownBy(() -> Tls.server(file("a.pem"), file("locked.pem")))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("locked.pem: the key is encrypted: pass its password");
        assertThatThrownBy(
                        () -> Tls.server(file("a.pem"), file("locked.pem"), "guess".toCharArray()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("locked.pem")
                .hasMessageContaining("wrong password");
    }

    @Test
    @Clause("X-1")
    void server_withAKeyEncryptedInTheOldManner_saysHowToConvertIt()
            throws IOException, InterruptedException {
        makePair("rsa:2048");
        openssl.run("rsa -in key.pem -traditional -aes128 -passout pass:secret -out old.pem");

        assertThatThrownBy(() -> Tls.server(file("a.pem"), file("old.pem"), "secret".toCharArray()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("openssl pkcs8 -topk8 -in old.pem");
    }

    @Test
    @Clause("X-1")
    void server_withPkcs12_takesItAndWantsTheRightPassword()
            throws IOException, InterruptedException {
        makePair("ec -pkeyopt ec_paramgen_curve:P-256");
        openssl.run("pkcs12 -export -in a.pem -inkey key.pem -passout pass:secret -out a.p12");

        requireUsable(Tls.server(file("a.p12"), "secret".toCharArray()));
        assertThatThrownBy(() -> Tls.server(file("a.p12"), "guess".toCharArray()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("a.p12: wrong password");
        assertThatThrownBy(() -> Tls.server(file("a.pem"), "secret".toCharArray()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("a.pem: is not a PKCS#12 file");
        openssl.run("pkcs12 -export -nokeys -in a.pem -passout pass:secret -out bare.p12");
        assertThatThrownBy(() -> Tls.server(file("bare.p12"), "secret".toCharArray()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("bare.p12: must contain one private key");
    }

    // ------------------------------------------------------------------ forms of files

    @Test
    @Clause("X-1")
    void server_withEverythingInOneFileAmongText_takesIt()
            throws IOException, InterruptedException {
        makePair("ec -pkeyopt ec_paramgen_curve:P-256");
        String all =
                "\ufeffSubject: CN=a.test\n\n"
                        + Files.readString(file("key.pem"))
                        + "Issuer: myself\n"
                        + Files.readString(file("a.pem"))
                        + "the end";
        openssl.write("all.pem", all.replace("\n", "\r\n"));

        requireUsable(Tls.server(file("all.pem"), file("all.pem")));
    }

    @Test
    @Clause("X-1")
    void server_withAChainInAnyOrder_putsItInOrder() throws IOException, InterruptedException {
        openssl.authority("root");
        openssl.issue("root", "middle", "basicConstraints=critical,CA:TRUE");
        openssl.issue("middle", "leaf", "subjectAltName=DNS:a.test");
        openssl.authority("unrelated");
        String leaf = Files.readString(file("leaf.pem"));
        String middle = Files.readString(file("middle.pem"));
        openssl.write("mixed.pem", middle + leaf + middle);
        openssl.write("odd.pem", leaf + Files.readString(file("unrelated.pem")));

        Tls server = Tls.server(file("mixed.pem"), file("leaf-key.pem"));
        TlsEnd here = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        Tls client = Tls.client().withTrustedCertificates(file("root.pem"));
        TlsEnd there = new TlsEnd(TlsSetup.of(client).newEngine("a.test", 1, new RecordScratch()));
        TlsEnd.talk(there, here);

        assertThat(there.engine.failure()).isNull();
        assertThat(there.engine.session().peerCertificates())
                .extracting(certificate -> certificate.getSubjectX500Principal().getName())
                .containsExactly("CN=leaf", "CN=middle");
        try (LogCapture log = new LogCapture()) {
            requireUsable(Tls.server(file("odd.pem"), file("leaf-key.pem")));
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("odd.pem")
                    .contains("ignored certificates");
        }
    }

    @Test
    @Clause("X-1")
    void server_withTheWrongKey_saysSo() throws IOException, InterruptedException {
        openssl.authority("one");
        openssl.authority("two");

        assertThatThrownBy(() -> Tls.server(file("one.pem"), file("two-key.pem")))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("one.pem and ")
                .hasMessageContaining("two-key.pem: the private key (EC) does not match the")
                .hasMessageContaining("CN=one");
    }

    @Test
    @Clause("X-1")
    void server_withFilesOfTheWrongSort_saysWhatTheyAre() throws IOException, InterruptedException {
        makePair("ec -pkeyopt ec_paramgen_curve:P-256");
        openssl.run("x509 -in a.pem -outform der -out a.der");
        openssl.write("empty.pem", "");
        openssl.write("garbage.pem", "hello");
        openssl.write("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB");
        openssl.write("odd.pem", "-----BEGIN CERTIFICATE-----\n??\n-----END CERTIFICATE-----");
        openssl.write("zero.pem", Certificates.block("CERTIFICATE", new byte[10]));
        openssl.write("nokey.pem", Certificates.block("PRIVATE KEY", new byte[10]));
        openssl.write("dsa.pem", Certificates.block("DSA PRIVATE KEY", new byte[10]));

        refused("key.pem", "key.pem", "contains no certificate", "it contains PRIVATE KEY");
        refused("a.pem", "a.pem", "contains no private key", "it contains CERTIFICATE");
        refused("a.der", "key.pem", "it is binary", "openssl x509 -inform der");
        refused("empty.pem", "key.pem", "it is empty");
        refused("garbage.pem", "key.pem", "no PEM block");
        refused("cut.pem", "key.pem", "no -----END", "complete");
        refused("odd.pem", "key.pem", "not base64", "line 3");
        refused("zero.pem", "key.pem", "CERTIFICATE is malformed");
        refused("a.pem", "nokey.pem", "PRIVATE KEY is malformed");
        refused("a.pem", "dsa.pem", "DSA PRIVATE KEY are not supported");
    }

    private void refused(String chain, String key, String... words) {
        assertThatThrownBy(() -> Tls.server(file(chain), file(key)))
                .isInstanceOf(SSLException.class)
                .message()
                .contains(words);
    }

    @Test
    @Clause("X-1")
    void server_withFilesThatCannotBeRead_saysWhy() throws IOException {
        assertThatThrownBy(() -> Tls.server(file("absent.pem"), file("absent.pem")))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("absent.pem: no such file");
        assertThatThrownBy(() -> Tls.server(directory, directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot read it");
        Path secret = openssl.write("secret.pem", "");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("---------"));
        if (!Files.isReadable(secret)) { // root can read every file
            assertThatThrownBy(() -> Tls.server(secret, secret))
                    .isInstanceOf(AccessDeniedException.class)
                    .hasMessageContaining("secret.pem: this process (user ");
        }
    }

    // ------------------------------------------------------------------ made here

    @Test
    @Clause("X-1")
    void selfSigned_isWhatOpenSslCallsACertificate() throws IOException, InterruptedException {
        Path both =
                Certificates.selfSigned(
                        file("self.pem"),
                        java.time.Instant.now(),
                        "localhost",
                        "*.example.org",
                        "127.0.0.1",
                        "::1");

        String text = openssl.run("x509 -in self.pem -noout -text");
        String verdict =
                openssl.run(
                        "verify -x509_strict -purpose sslserver -verify_hostname www.example.org"
                                + " -CAfile self.pem self.pem");

        assertThat(text)
                .contains("Version: 3 (0x2)")
                .contains("ecdsa-with-SHA256")
                .contains("ASN1 OID: prime256v1")
                .contains("DNS:localhost, DNS:*.example.org, IP Address:127.0.0.1")
                .contains("CA:FALSE")
                .contains("TLS Web Server Authentication");
        assertThat(verdict).contains("self.pem: OK");
        requireUsable(Tls.server(both, both));
    }

    @Test
    @Clause("X-1")
    void selfSigned_withoutNames_isOfThisMachine() {
        Tls server = Tls.selfSigned();
        TlsEnd here = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        TlsEnd there =
                new TlsEnd(
                        TlsSetup.of(Tls.client().withoutVerification())
                                .newEngine("localhost", 1, new RecordScratch()));
        TlsEnd.talk(there, here);

        assertThat(there.engine.session().peerCertificates().getFirst().toString())
                .contains("localhost", "127.0.0.1", "0:0:0:0:0:0:0:1");
    }
}
