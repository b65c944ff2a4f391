package dev.gyre.internal.tls;

import dev.gyre.io.Tls;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateEncodingException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;

/// Certificates shared by all tests. `ca` issues `server` (localhost, 127.0.0.1), `org`
/// (example.org), `wild` (*.example.org), `client` and `expired` (localhost). `other` is another
/// authority, and issues the client `stranger`.
public final class Certificates {
    private static final Certificates MADE = make();

    private final Path directory;

    private Certificates(Path directory) {
        this.directory = directory;
    }

    public static Path pem(String name) {
        return MADE.directory.resolve(name + ".pem");
    }

    public static Path key(String name) {
        return MADE.directory.resolve(name + "-key.pem");
    }

    /// The settings of `server`.
    public static Tls server() throws IOException {
        return Tls.server(pem("server"), key("server"));
    }

    /// A client that trusts `ca`.
    public static Tls client() throws IOException {
        return Tls.client().withTrustedCertificates(pem("ca"));
    }

    private static Certificates make() {
        try {
            Path directory = Files.createTempDirectory("gyre-certificates");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
            OpenSsl openssl = new OpenSsl(directory);
            openssl.authority("ca");
            openssl.authority("other");
            openssl.issue("ca", "server", "subjectAltName=DNS:localhost,IP:127.0.0.1");
            openssl.issue("ca", "org", "subjectAltName=DNS:example.org");
            openssl.issue("ca", "wild", "rsa:2048", "subjectAltName=DNS:*.example.org");
            openssl.issue("ca", "client", "extendedKeyUsage=clientAuth");
            openssl.issue("other", "stranger", "extendedKeyUsage=clientAuth");
            expired(openssl);
            return new Certificates(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void expired(OpenSsl openssl) throws IOException, InterruptedException {
        openssl.write("index.txt", "");
        openssl.write(
                "ca.conf",
                """
                [ca]
                default_ca = own
                [own]
                database = index.txt
                new_certs_dir = .
                rand_serial = yes
                default_md = sha256
                policy = any
                x509_extensions = names
                [any]
                commonName = supplied
                [names]
                subjectAltName = DNS:localhost
                """);
        openssl.run(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=expired"
                        + " -keyout expired-key.pem -out expired.csr");
        openssl.run(
                "ca -batch -config ca.conf -cert ca.pem -keyfile ca-key.pem -notext"
                        + " -startdate 20010203040506Z -enddate 20020203040506Z -in expired.csr"
                        + " -out expired.pem");
    }

    private static void delete(Path directory) {
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(directory);
        } catch (IOException e) {
            System.err.println("left behind: " + directory + ": " + e);
        }
    }

    /// Writes an identity to one PEM file, issued at that time.
    static Path selfSigned(Path file, Instant now, String... names) throws IOException {
        Identity identity = SelfSignedCertificate.identity(List.of(names), now);
        try {
            return Files.writeString(
                    file,
                    block("CERTIFICATE", identity.chain().getFirst().getEncoded())
                            + block("PRIVATE KEY", identity.key().getEncoded()));
        } catch (CertificateEncodingException e) {
            throw new AssertionError(e);
        }
    }

    static String block(String label, byte[] content) {
        return "-----BEGIN "
                + label
                + "-----\n"
                + Base64.getMimeEncoder().encodeToString(content)
                + "\n-----END "
                + label
                + "-----\n";
    }
}
