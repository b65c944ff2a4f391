package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/// A program of somebody else's as a peer: `nc`, `socat`, `openssl`.
final class Tool {
    private static final Executor LATER = CompletableFuture.delayedExecutor(60, TimeUnit.SECONDS);

    private Tool() {}

    /// Skips the test if the tool is absent, unless this is CI, where it has to be there.
    static void require(String name) {
        boolean there =
                Arrays.stream(System.getenv("PATH").split(":", -1))
                        .anyMatch(directory -> Files.isExecutable(Path.of(directory, name)));
        assertThat(there || System.getenv("CI") == null)
                .as("no %s on the PATH: .ci/packages installs it", name)
                .isTrue();
        assumeTrue(there, "no " + name + " on the PATH: .ci/packages installs it");
    }

    /// Runs it with input, ends that, and waits for its end.
    ///
    /// @return all of its output, which it is killed for after a minute
    static byte[] talk(byte[] input, String... command) throws IOException, InterruptedException {
        require(command[0]);
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        LATER.execute(process::destroyForcibly);
        Thread.ofVirtual().start(() -> feed(process.getOutputStream(), input));
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        process.getInputStream().transferTo(output);
        assertThat(process.waitFor())
                .as("status of %s, which has said %d bytes", command[0], output.size())
                .isZero();
        return output.toByteArray();
    }

    /// Runs it with input that does not end, until it has answered so much.
    static byte[] converse(byte[] input, int answerBytes, String... command) throws IOException {
        require(command[0]);
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        LATER.execute(process::destroyForcibly);
        try {
            process.getOutputStream().write(input);
            process.getOutputStream().flush();
            return process.getInputStream().readNBytes(answerBytes);
        } finally {
            process.destroyForcibly();
        }
    }

    /// Makes a certificate for localhost that vouches for itself.
    ///
    /// @return the two files, `cert.pem` and `key.pem`
    static CertificateFiles certificate(Path directory) throws IOException, InterruptedException {
        Path certificate = directory.resolve("cert.pem");
        Path key = directory.resolve("key.pem");
        byte[] _ =
                talk(
                        new byte[0],
                        "openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        "ec",
                        "-pkeyopt",
                        "ec_paramgen_curve:prime256v1",
                        "-nodes",
                        "-subj",
                        "/CN=localhost",
                        "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-days",
                        "2",
                        "-out",
                        certificate.toString(),
                        "-keyout",
                        key.toString());
        return new CertificateFiles(certificate.toString(), key.toString());
    }

    record CertificateFiles(String certificate, String key) {}

    private static void feed(OutputStream to, byte[] input) {
        try (to) {
            to.write(input);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
