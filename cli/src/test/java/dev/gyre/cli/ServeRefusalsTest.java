package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// What `gyre serve` cannot do or does not understand: one line that names the thing, the cause and
/// the remedy.
final class ServeRefusalsTest {
    @TempDir Path directory;

    private static void assertRefused(Execution execution, String start, String remedy) {
        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err().lines())
                .singleElement()
                .asString()
                .startsWith(start)
                .contains(remedy);
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void serve_onAPortThatIsTaken_namesItAndTheRemedy(String loops) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertRefused(
                    Execution.of("serve", "--port", port, "--loops", loops),
                    "Cannot listen on 127.0.0.1:" + port + ": EADDRINUSE (98): ",
                    "choose another port");
        }
    }

    @Test
    void serve_onThePortOfAnother_doesNotShareIt() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--loops", "2")) {
            String port = Integer.toString(ServeTest.port(server));
            assertRefused(
                    Execution.of("serve", "--port", port, "--loops", "2"),
                    "Cannot listen on 127.0.0.1:" + port + ": EADDRINUSE (98): ",
                    "choose another port");
        }
    }

    @ParameterizedTest
    @CsvSource({"192.0.2.1, EADDRNOTAVAIL", "no-such-host.invalid, unknown host"})
    void serve_whereItCannot_namesTheAddressAndWhy(String host, String why) {
        assertRefused(
                Execution.of("serve", "--host", host), "Cannot listen on " + host + ":8080: ", why);
    }

    @Test
    void serve_whatIsNoDirectory_isNamed() throws IOException {
        Path file = Files.writeString(directory.resolve("page.html"), "");
        assertRefused(
                Execution.of("serve", file.toString()),
                "Cannot serve " + file + ": not a directory",
                "name its parent directory");
        assertRefused(
                Execution.of("serve", file + "-not-there"),
                "Cannot serve " + file + "-not-there: no such directory",
                "name another");
    }

    @Test
    void serve_withAFileThatIsNoCertificate_namesTheFileAndWhy() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "no certificate");
        assertRefused(
                Execution.of("serve", "--tls", "--cert", file.toString()),
                "Cannot set up TLS: " + file,
                "contains no certificate");
    }

    @Test
    void serve_withALogThatCannotBeWritten_namesItAndWhy() {
        String file = directory.resolve("no/such/access.log").toString();
        assertRefused(
                Execution.of("serve", "--access-log", file),
                "Cannot write the access log " + file + ": no such directory",
                "create it");
    }

    @ParameterizedTest
    @CsvSource({
        "--cert=x,               --cert and --key need --tls",
        "--listing,              need a directory",
        "--cache-control=x,      need a directory",
        "--unix=x --port=1,      --unix excludes --port",
        "--unix=x --host=::1,    --unix excludes --port and --host",
        "--unix=x --loops=0,     must be at least 1",
        "--port=65536,           '--port': must be from 0 to 65535",
        "--port=-1,              '--port': must be from 0 to 65535",
        "--unix=,                '--unix': must not be empty",
        "--host=,                '--host': must not be empty",
        "--tls --cert=,          '--cert': must not be empty",
        "--tls --cert=x --key=,  '--key': must not be empty",
        "--access-log=,          '--access-log': must not be empty",
        "--cache-control=äö .,   'äö' contains characters other",
        "'',                     DIR is empty",
        "--port=http,            --port",
        "--host=a/b,             a/b is not a host name",
        "--loops=0,              must be at least 1",
        "--loops=1025,           at most 1024",
        "--max-body=0,           at least 1",
        "--max-body=much,        not a size",
        "--max-connections=0,    must be at least 1",
        "--idle-timeout=soon,    not a duration",
        "--backend=select,       unknown backend",
        "a b,                    b"
    })
    void serve_nonsense_isNamed(String arguments, String expected) {
        List<String> words = new ArrayList<>(List.of("serve"));
        words.addAll(List.of(arguments.split(" ", -1)));

        Execution execution = Execution.of(words.toArray(String[]::new));

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err()).contains(expected);
    }

    @Test
    void serve_onABackendThatIsNotHere_isNotServedByAnother() {
        assertRefused(
                Execution.of("serve", "--port", "0", "--backend", "kqueue"),
                "The event loop failed (run gyre doctor for details): kqueue is refused: Linux has",
                "gyre.kqueue.library");
        assertRefused(
                Execution.of("echo", "--backend", "kqueue", "0"),
                "The event loop failed",
                "kqueue is refused");
        assertRefused(
                Execution.of("c10k", "--backend", "kqueue", "--connections", "1"),
                "The event loop failed",
                "kqueue is refused");
    }

    @Test
    void serve_onAnotherSystem_saysWhy() {
        Execution execution = Execution.on("Plan 9", "serve");

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("Plan 9", "gyre doctor");
    }

    @Test
    void accessLog_onAStandardOutputThatTakesNoMore_isToldOfEachLine() {
        OutputStream full =
                new OutputStream() {
                    @Override
                    public void write(int octet) throws IOException {
                        throw new IOException("No space left on device");
                    }
                };
        Consumer<String> lines = Serve.linesTo(new PrintWriter(full, false, UTF_8));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> lines.accept("a line"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("cannot write to standard output");
        }
    }

    @Test
    void help_ofServe_explainsOptionsEndpointsAndStatus() {
        Execution execution = Execution.of("help", "serve");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("--port", "--host", "--unix", "--loops", "--access-log", "--listing")
                .contains("--max-body", "--idle-timeout", "Default: 60s", "--tls", "--cert")
                .contains("/plaintext", "/ws/echo", "/metrics", "Exit status:", "Examples:")
                .contains("--idle-timeout applies between requests", "100 ms")
                .doesNotContain("--until-input-ends", "--train");
    }
}
