package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/// Certificates for the examples of TLS, all of one authority, as the files that a server has: `ca.pem`, and
/// `server.pem`, `alias.pem` and `client.pem` with their keys.
final class Identities {
    static final List<String> FILES = List.of("ca.pem", "server.pem", "alias.pem", "client.pem");

    private static final String PASSWORD = "for the test";
    private static final String AUTHORITY = "ca";
    private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, new byte[] {'\n'});

    private final Path directory;
    private final Path store;

    private Identities(Path directory) {
        this.directory = directory;
        this.store = directory.resolve("all.p12");
    }

    /// Makes the files.
    static void write(Path directory) throws Exception {
        Identities identities = new Identities(directory);
        identities.make(AUTHORITY, "CN=Test Authority", "-ext", "bc:c");
        identities.make(
                "server",
                "CN=server",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-signer",
                AUTHORITY);
        identities.make("alias", "CN=alias", "-ext", "san=dns:alias.test", "-signer", AUTHORITY);
        identities.make("client", "CN=a friend", "-signer", AUTHORITY);
        identities.export();
    }

    private void make(String name, String subject, String... more) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "keytool")
                                        .toString(),
                                "-J-XX:TieredStopAtLevel=1",
                                "-J-XX:+UseSerialGC",
                                "-genkeypair",
                                "-keyalg",
                                "EC",
                                "-alias",
                                name,
                                "-dname",
                                subject,
                                "-keystore",
                                store.toString(),
                                "-storepass",
                                PASSWORD));
        command.addAll(List.of(more));
        Path said = directory.resolve("keytool-" + name);
        Process keytool =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
        assertThat(keytool.waitFor()).as("exit code of keytool: see %s", said).isZero();
    }

    private void export() throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
        Files.writeString(
                directory.resolve("ca.pem"),
                block("CERTIFICATE", keys.getCertificate(AUTHORITY).getEncoded()));
        for (String name : List.of("server", "alias", "client")) {
            StringBuilder pem = new StringBuilder();
            for (Certificate certificate : keys.getCertificateChain(name)) {
                pem.append(block("CERTIFICATE", certificate.getEncoded()));
            }
            byte[] key = keys.getKey(name, PASSWORD.toCharArray()).getEncoded();
            pem.append(block("PRIVATE KEY", key));
            Files.writeString(directory.resolve(name + ".pem"), pem);
        }
    }

    private static String block(String kind, byte[] content) {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
                .formatted(kind, LINES.encodeToString(content), kind);
    }
}
