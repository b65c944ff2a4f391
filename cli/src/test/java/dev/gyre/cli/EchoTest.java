package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

final class EchoTest {
    private static final byte[] HELLO = "hello\n".getBytes(StandardCharsets.UTF_8);

    @TempDir Path directory;

    /// The port that a server says it listens on.
    static int port(Program server) throws InterruptedException {
        String line = server.out();
        assertThat(line).matches("(Echo|Proxy) on [^ ]+:\\d+ .*Press Ctrl-C to stop\\.");
        return Integer.parseInt(line.replaceFirst("^\\w+ on [^ ]+:(\\d+) .*", "$1"));
    }

    private static byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(42).nextBytes(noise);
        return noise;
    }

    // ------------------------------------------------------------------ with real peers

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring"})
    void echo_toNetcat_sendsTheSameBackAndSumsUp(String backend) throws Exception {
        try (Program server = Program.start("echo", "--backend", backend, "0")) {
            String port = Integer.toString(port(server));

            assertThat(Tool.talk(HELLO, "nc", "-N", "127.0.0.1", port)).isEqualTo(HELLO);

            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .containsExactly(
                            "Stopped by SIGINT: 1 connection, 6 bytes received, 6 bytes sent;"
                                    + " 1 ended.");
            assertThat(server.status()).isEqualTo(130);
        }
    }

    @Test
    void echo_ofMegabytesToSocat_isTheSame() throws Exception {
        byte[] noise = noise(5_000_000);
        try (Program server = Program.start("echo", "127.0.0.1:0")) {
            String peer = "TCP:127.0.0.1:" + port(server);

            assertThat(Tool.talk(noise, "socat", "-t60", "-", peer)).isEqualTo(noise);
        }
    }

    @Test
    void echo_onAUnixSocket_answersSocatAndLeavesNoFile() throws Exception {
        Path path = directory.resolve("echo.sock");
        try (Program server = Program.start("echo", "--unix", path.toString())) {
            assertThat(server.out()).startsWith("Echo on unix:" + path + " (Unix, ");

            assertThat(Tool.talk(HELLO, "socat", "-t60", "-", "UNIX-CONNECT:" + path))
                    .isEqualTo(HELLO);

            server.send(Signal.SIGTERM);
            assertThat(server.restOfOut()).last().asString().startsWith("Stopped by SIGTERM: 1 ");
            assertThat(server.status()).isEqualTo(143);
            assertThat(path).doesNotExist();
        }
    }

    @Test
    void echo_onIpv6_answersNetcat() throws Exception {
        try (Program server = Program.start("echo", "[::1]:0")) {
            String port = Integer.toString(port(server));

            assertThat(Tool.talk(HELLO, "nc", "-N", "::1", port)).isEqualTo(HELLO);
        }
    }

    @Test
    void echo_overTls_answersSocatAndOpensslThatVerifyIt() throws Exception {
        Tool.require("openssl");
        Tool.CertificateFiles files = Tool.certificate(directory);
        try (Program server =
                Program.start(
                        "echo",
                        "--tls",
                        "--cert",
                        files.certificate(),
                        "--key",
                        files.key(),
                        "0")) {
            int port = port(server);
            String peer =
                    "OPENSSL:127.0.0.1:%d,cafile=%s,commonname=localhost"
                            .formatted(port, files.certificate());

            assertThat(Tool.talk(HELLO, "socat", "-t60", "-", peer)).isEqualTo(HELLO);
            assertThat(
                            Tool.converse(
                                    HELLO,
                                    HELLO.length,
                                    "openssl",
                                    "s_client",
                                    "-quiet",
                                    "-verify_return_error",
                                    "-CAfile",
                                    files.certificate(),
                                    "-connect",
                                    "localhost:" + port))
                    .isEqualTo(HELLO);

            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .last()
                    .asString()
                    .startsWith("Stopped by SIGINT: 2 conn");
        }
    }

    @Test
    void echo_overTlsWithItsOwnCertificate_saysSoAndCountsWhoDoesNotSpeakIt() throws Exception {
        try (Program server = Program.start("echo", "--tls", "0")) {
            String line = server.out();
            assertThat(line).contains("(TCP, TLS, ");
            assertThat(server.err()).contains("self-signed certificate");
            int port = Integer.parseInt(line.replaceFirst("^Echo on [^ ]+:(\\d+) .*", "$1"));
            try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
                stranger.getOutputStream().write(HELLO);
                awaitEnd(stranger);
            }
            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .last()
                    .asString()
                    .contains("0 connections")
                    .endsWith("; 1 without a handshake.");
            assertThat(server.restOfErr()).isEmpty();
        }
    }

    private static void awaitEnd(Socket client) {
        try {
            byte[] _ = client.getInputStream().readAllBytes();
        } catch (IOException e) {
            // A reset is an end too.
        }
    }

    @Test
    void echo_overUdp_answersSocatAndSumsUp() throws Exception {
        try (Program server = Program.start("echo", "--udp", "0")) {
            String peer = "UDP:127.0.0.1:%d,readbytes=6".formatted(port(server));

            assertThat(Tool.talk(HELLO, "socat", "-t60", "-", peer)).isEqualTo(HELLO);

            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .containsExactly("Stopped by SIGINT: 1 message received, 1 sent.");
            assertThat(server.status()).isEqualTo(130);
        }
    }

    // ------------------------------------------------------------------ limits and ends

    @Test
    void echo_idleForTooLong_closes() throws Exception {
        try (Program server = Program.start("echo", "--idle-timeout", "50ms", "0");
                Socket client = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            assertThat(client.getInputStream().read()).isEqualTo(-1);

            server.send(Signal.SIGINT);
            assertThat(server.restOfOut()).last().asString().endsWith("; 1 idle timeout.");
        }
    }

    @Test
    void echo_aPeersSecondConnectionOverItsLimit_isClosedAtOnce() throws Exception {
        try (Program server = Program.start("echo", "--max-per-peer", "1", "0")) {
            int port = port(server);
            try (Socket first = new Socket(InetAddress.getLoopbackAddress(), port)) {
                assertEchoes(first);
                try (Socket second = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    assertThat(second.getInputStream().read()).isEqualTo(-1);
                }
                assertEchoes(first);
            }
            server.send(Signal.SIGINT);
            assertThat(server.restOfOut()).last().asString().contains("1 connection,", "1 refused");
        }
    }

    @Test
    void echo_atItsLimit_servesTheNextWhenOneIsGone() throws Exception {
        try (Program server = Program.start("echo", "--max-connections", "1", "0")) {
            int port = port(server);
            Socket first = new Socket(InetAddress.getLoopbackAddress(), port);
            try (first;
                    Socket second = new Socket(InetAddress.getLoopbackAddress(), port)) {
                assertEchoes(first);
                second.getOutputStream().write(HELLO);
                assertEchoes(first);
                assertThat(second.getInputStream().available()).as("it waits").isZero();

                first.shutdownOutput();
                assertThat(first.getInputStream().read()).isEqualTo(-1);

                assertThat(second.getInputStream().readNBytes(HELLO.length)).isEqualTo(HELLO);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SIGINT", "SIGTERM"})
    @SuppressWarnings("try") // closed early on purpose: that is what the server waits for
    void echo_stoppedWithAConnection_letsItFinishAndSumsUp(Signal signal) throws Exception {
        try (Program server = Program.start("echo", "0");
                Socket client = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            assertEchoes(client);
            server.send(signal);
            assertThat(server.out()).startsWith("Draining 1 connection (up to 5 s)");
            assertEchoes(client);
            client.shutdownOutput();
            assertThat(client.getInputStream().read()).as("the end").isEqualTo(-1);

            assertThat(server.restOfOut())
                    .containsExactly(
                            "Stopped by %s: 1 connection, 12 bytes received, 12 bytes sent; 1 ended."
                                    .formatted(signal));
            assertThat(server.status()).isEqualTo(128 + signal.number());
            assertThat(server.restOfErr()).isEmpty();
        }
    }

    @Test
    void echo_stoppedTwice_doesNotWaitForAPeer() throws Exception {
        try (Program server = Program.start("echo", "0");
                Socket client = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            assertEchoes(client);
            server.send(Signal.SIGINT);
            assertThat(server.out()).startsWith("Draining 1 connection (up to 5 s)");
            server.send(Signal.SIGINT);
            assertThat(server.restOfOut()).last().asString().endsWith("; 1 aborted.");
            assertThat(server.status()).isEqualTo(130);
        }
    }

    private static void assertEchoes(Socket client) throws IOException {
        client.getOutputStream().write(HELLO);
        assertThat(client.getInputStream().readNBytes(HELLO.length)).isEqualTo(HELLO);
    }

    // ------------------------------------------------------------------ what it cannot do

    @Test
    void echo_onAPortThatIsTaken_namesItAndTheRemedy() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String where = "127.0.0.1:" + taken.getLocalPort();

            Execution execution = Execution.of("echo", where);

            assertThat(execution.status()).isEqualTo(1);
            assertThat(execution.out()).isEmpty();
            assertThat(execution.err().lines())
                    .singleElement()
                    .asString()
                    .startsWith("Cannot listen on " + where + ": EADDRINUSE (98): ")
                    .contains("choose another port");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1:7777,         EADDRNOTAVAIL",
        "no-such-host.invalid:1, unknown host",
        "unix:/no/such/dir/sock, ENOENT"
    })
    void echo_whereItCannot_namesTheAddressAndWhy(String where, String why) {
        Execution execution = Execution.of("echo", where);

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err().lines())
                .singleElement()
                .asString()
                .startsWith("Cannot listen on " + where + ": ")
                .contains(why);
    }

    @Test
    void echo_onAPathThatIsAFile_doesNotTouchIt() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "precious");

        Execution execution = Execution.of("echo", "--unix", file.toString());

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("Cannot listen on unix:" + file, "EADDRINUSE");
        assertThat(file).hasContent("precious");
    }

    @Test
    void echo_withFilesThatAreNoCertificate_namesTheFileAndWhy() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "no certificate");

        Execution wrong = Execution.of("echo", "--tls", "--cert", file.toString(), "0");
        Execution absent = Execution.of("echo", "--tls", "--cert", file + "-not-there", "0");

        assertThat(wrong.status()).isEqualTo(1);
        assertThat(wrong.err().lines())
                .singleElement()
                .asString()
                .startsWith("Cannot set up TLS: " + file + ": contains no certificate");
        assertThat(absent.status()).isEqualTo(1);
        assertThat(absent.err().lines())
                .singleElement()
                .asString()
                .startsWith("Cannot set up TLS: " + file + "-not-there: no such file");
    }

    @ParameterizedTest
    @CsvSource({
        "--cert=x,                --cert and --key need --tls",
        "--tls --key=x,           --key needs --cert",
        "--udp --tls, --udp excludes --tls",
        "--udp --max-per-peer=1, --udp excludes --max-per-peer",
        "--udp --idle-timeout=1s, --udp excludes --idle-timeout",
        "--udp unix:x,            needs a port",
        "--unix=x 7777,           --unix excludes"
    })
    void echo_whatDoesNotGoTogether_isNamed(String arguments, String expected) {
        List<String> words = new ArrayList<>(List.of("echo"));
        words.addAll(List.of(arguments.split(" ", -1)));

        Execution execution = Execution.of(words.toArray(String[]::new));

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "--idle-timeout=soon,     not a duration",
        "--idle-timeout=-1s,      not a duration",
        "--max-connections=0,     must be at least 1",
        "--max-per-peer=0,        must be at least 1",
        "--backend=select,        unknown backend",
        "--unix=,                 must not be empty",
        "65536,                   the port must be from 0 to 65535",
        "::1:80,                  in brackets",
        "--loud,                  --loud"
    })
    void echo_nonsense_isNamed(String argument, String expected) {
        Execution execution = Execution.of("echo", argument);

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err()).contains(expected);
    }

    @Test
    void echo_onAnotherSystem_saysWhy() {
        Execution execution = Execution.on("Plan 9", "echo");

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("Plan 9", "gyre doctor");
    }

    @Test
    void help_ofEcho_explainsAddressesOptionsAndStatus() {
        Execution execution = Execution.of("help", "echo");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("--unix", "--max-per-peer", "--idle-timeout", "--max-connections")
                .contains("--udp", "--tls", "--cert", "--key")
                .contains("--backend", "HOST:PORT", "127.0.0.1:7777", "Exit status:", "Examples:")
                .doesNotContain("--until-input-ends");
    }
}
