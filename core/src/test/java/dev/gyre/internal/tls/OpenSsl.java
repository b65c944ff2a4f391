package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Runs the OpenSSL command line in a directory.
public final class OpenSsl {
    private final Path directory;

    public OpenSsl(Path directory) {
        require();
        this.directory = directory;
    }

    /// May be absent on a developer's machine; CI has it.
    public static void require() {
        boolean found;
        try {
            found =
                    new ProcessBuilder("openssl", "version")
                                    .redirectErrorStream(true)
                                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                    .start()
                                    .waitFor()
                            == 0;
        } catch (IOException e) {
            found = false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assumeTrue(found || System.getenv("CI") != null, "no openssl (apt-get install openssl)");
    }

    public Path file(String name) {
        return directory.resolve(name);
    }

    public Path write(String name, String text) throws IOException {
        return Files.writeString(file(name), text);
    }

    /// Runs a command of blank-separated words and returns its output.
    public String run(String command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("openssl"));
        words.addAll(List.of(command.split(" ")));
        Process process =
                new ProcessBuilder(words)
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("output of openssl %s:%n%s", command, said).isZero();
        return said;
    }

    /// Creates `name.pem` and `name-key.pem`, a self-signed authority.
    public void authority(String name) throws IOException, InterruptedException {
        run(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN="
                        + name
                        + " -keyout "
                        + name
                        + "-key.pem -out "
                        + name
                        + ".pem");
    }

    /// Creates `name.pem` and `name-key.pem`, issued by an authority.
    ///
    /// @param key such as `ec -pkeyopt ec_paramgen_curve:P-256`
    /// @param extension such as `subjectAltName=DNS:localhost`
    public void issue(String authority, String name, String key, String extension)
            throws IOException, InterruptedException {
        run(
                "req -x509 -newkey "
                        + key
                        + " -nodes -days 30 -subj /CN="
                        + name
                        + " -CA "
                        + authority
                        + ".pem -CAkey "
                        + authority
                        + "-key.pem -addext "
                        + extension
                        + " -keyout "
                        + name
                        + "-key.pem -out "
                        + name
                        + ".pem");
    }

    /// Uses the default key.
    public void issue(String authority, String name, String extension)
            throws IOException, InterruptedException {
        issue(authority, name, "ec -pkeyopt ec_paramgen_curve:P-256", extension);
    }
}
