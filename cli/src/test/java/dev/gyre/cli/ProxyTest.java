package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

final class ProxyTest {
    private static final byte[] HELLO = "hello\n".getBytes(StandardCharsets.UTF_8);

    @TempDir Path directory;

    @Test
    void proxy_betweenSocatAndEcho_passesMegabytesOn() throws Exception {
        byte[] noise = new byte[5_000_000];
        new Random(42).nextBytes(noise);
        try (Program echo = Program.start("echo", "0");
                Program proxy = Program.start("proxy", "0", "localhost:" + EchoTest.port(echo))) {
            String peer = "TCP:127.0.0.1:" + EchoTest.port(proxy);

            assertThat(Tool.talk(noise, "socat", "-t60", "-", peer)).isEqualTo(noise);

            proxy.send(Signal.SIGINT);
            assertThat(proxy.restOfOut())
                    .last()
                    .asString()
                    .matches(
                            "Stopped by SIGINT: 1 connection, 5.0 MB received, 5.0 MB sent;"
                                    + " 1 (ended|closed)\\.");
            assertThat(proxy.status()).isEqualTo(130);
            assertThat(proxy.restOfErr()).isEmpty();
        }
    }

    @Test
    void proxy_ofTlsToTls_isTrustedAndTrusts() throws Exception {
        Tool.require("openssl");
        Tool.CertificateFiles files = Tool.certificate(directory);
        String[] identity = {"--tls", "--cert", files.certificate(), "--key", files.key()};
        try (Program echo = Program.start(with("echo", identity, "0"));
                Program proxy =
                        Program.start(
                                with(
                                        "proxy",
                                        identity,
                                        "--tls-target",
                                        "--trust",
                                        files.certificate(),
                                        "0",
                                        "localhost:" + EchoTest.port(echo)))) {
            String peer =
                    "OPENSSL:127.0.0.1:%d,cafile=%s,commonname=localhost"
                            .formatted(EchoTest.port(proxy), files.certificate());

            assertThat(Tool.talk(HELLO, "socat", "-t60", "-", peer)).isEqualTo(HELLO);
        }
    }

    @Test
    void proxy_toATlsTargetThatItDoesNotTrust_saysWhyAndResetsTheClient() throws Exception {
        try (Program echo = Program.start("echo", "--tls", "0");
                Program proxy =
                        Program.start(
                                "proxy", "--tls-target", "0", "localhost:" + EchoTest.port(echo));
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), EchoTest.port(proxy))) {
            assertThat(end(client)).isIn("reset", "end");
            assertThat(proxy.err()).startsWith("Cannot reach localhost:").contains("trust");
        }
    }

    private static String[] with(String command, String[] options, String... more) {
        List<String> words = new ArrayList<>(List.of(command));
        words.addAll(List.of(options));
        words.addAll(List.of(more));
        return words.toArray(String[]::new);
    }

    @Test
    void proxy_fromAUnixSocketToAnother_passesOn() throws Exception {
        Path front = directory.resolve("front");
        Path back = directory.resolve("back");
        try (Program echo = Program.start("echo", "unix:" + back);
                Program proxy = Program.start("proxy", "unix:" + front, "unix:" + back)) {
            assertThat(echo.out()).contains("unix:" + back);
            assertThat(proxy.out()).startsWith("Proxy on unix:" + front + " to unix:" + back);

            assertThat(Tool.talk(HELLO, "socat", "-t60", "-", "UNIX-CONNECT:" + front))
                    .isEqualTo(HELLO);
        }
    }

    @Test
    void proxy_whoseClientHasEnded_stillBringsTheAnswer() throws Exception {
        try (ServerSocket target = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Program proxy =
                        Program.start("proxy", "0", Integer.toString(target.getLocalPort()));
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), EchoTest.port(proxy))) {
            client.getOutputStream().write(HELLO);
            client.shutdownOutput();
            try (Socket server = target.accept()) {
                assertThat(server.getInputStream().readAllBytes()).isEqualTo(HELLO);
                server.getOutputStream().write("and then some".getBytes(StandardCharsets.UTF_8));
            }
            assertThat(client.getInputStream().readAllBytes())
                    .asString()
                    .isEqualTo("and then some");
        }
    }

    @Test
    void proxy_toATargetThatRefuses_resetsTheClientAndNamesTheTarget() throws Exception {
        int nobody;
        try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = gone.getLocalPort();
        }
        try (Program proxy = Program.start("proxy", "0", "127.0.0.1:" + nobody);
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), EchoTest.port(proxy))) {
            assertThat(end(client)).isIn("reset", "end");
            assertThat(proxy.err())
                    .startsWith("Cannot reach 127.0.0.1:%d for 127.0.0.1:".formatted(nobody))
                    .contains("ECONNREFUSED");
            proxy.send(Signal.SIGINT);
            assertThat(proxy.restOfOut()).last().asString().endsWith("; 1 aborted.");
        }
    }

    @Test
    void proxy_toAHostThatIsNotKnown_saysSo() throws Exception {
        try (Program proxy = Program.start("proxy", "0", "no-such-host.invalid:80");
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), EchoTest.port(proxy))) {
            assertThat(end(client)).isIn("reset", "end");
            assertThat(proxy.err())
                    .startsWith("Cannot reach no-such-host.invalid:80 for 127.0.0.1:")
                    .endsWith("unknown host");
        }
    }

    @Test
    void proxy_whoseTargetIsReset_resetsTheClient() throws Exception {
        try (ServerSocket target = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Program proxy =
                        Program.start("proxy", "0", Integer.toString(target.getLocalPort()));
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), EchoTest.port(proxy))) {
            client.getOutputStream().write(HELLO);
            try (Socket server = target.accept()) {
                assertThat(server.getInputStream().readNBytes(HELLO.length)).isEqualTo(HELLO);
                server.setSoLinger(true, 0);
            }
            assertThat(end(client)).isEqualTo("reset");
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll, false", "epoll, true", "io_uring, false", "io_uring, true"})
    void proxy_stoppedInTheMiddleOfAResponse_letsItFinishOrResets(String backend, boolean twice)
            throws Exception {
        int first = 10_000;
        int all = 400_000;
        try (ServerSocket target = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Program proxy =
                        Program.start(
                                "proxy",
                                "--backend",
                                backend,
                                "0",
                                Integer.toString(target.getLocalPort()));
                Socket client = new Socket(InetAddress.getLoopbackAddress(), EchoTest.port(proxy));
                Socket server = target.accept()) {
            server.getOutputStream().write(new byte[first]);
            assertThat(client.getInputStream().readNBytes(first)).hasSize(first);
            proxy.send(Signal.SIGTERM);
            assertThat(proxy.out()).startsWith("Draining 1 connection");
            if (twice) {
                proxy.send(Signal.SIGTERM);
                assertThat(end(client)).isEqualTo("reset");
                assertThat(proxy.restOfErr())
                        .anyMatch(line -> line.contains("1 stream"))
                        .anyMatch(line -> line.contains(":" + client.getLocalPort()));
                assertThat(proxy.restOfOut()).last().asString().endsWith("; 1 aborted.");
            } else {
                server.getOutputStream().write(new byte[all - first]);
                server.shutdownOutput();
                client.shutdownOutput();
                assertThat(client.getInputStream().readAllBytes()).hasSize(all - first);
                assertThat(proxy.restOfErr()).isEmpty();
                assertThat(proxy.restOfOut()).last().asString().matches(".*; 1 (ended|closed)\\.");
            }
            assertThat(proxy.status()).isEqualTo(143);
        }
    }

    private static String end(Socket client) {
        try {
            return client.getInputStream().read() < 0 ? "end" : "data";
        } catch (IOException e) {
            return "reset";
        }
    }

    @ParameterizedTest
    @CsvSource({
        "7777,   host,   expected PORT",
        "7777,   :0,     the port must be from 1",
        "nobody, 7777,   expected PORT",
        "7777,   unix:,  the path is empty"
    })
    void proxy_nonsense_isNamed(String listen, String target, String expected) {
        Execution execution = Execution.of("proxy", listen, target);

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err()).contains(expected);
    }

    @Test
    void proxy_withoutATarget_isAMistake() {
        assertThat(Execution.of("proxy", "7777").err()).contains("TARGET");
        assertThat(Execution.of("proxy", "--insecure", "1", "2").err()).contains("--tls-target");
        assertThat(Execution.of("proxy", "--connect-timeout=0", "1", "2").err())
                .contains("--connect-timeout", "longer than zero");
    }

    @Test
    void help_ofProxy_explainsEndsOptionsAndStatus() {
        Execution execution = Execution.of("help", "proxy");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("LISTEN", "TARGET", "--connect-timeout", "--idle-timeout")
                .contains("--tls", "--tls-target", "--trust", "--insecure")
                .contains("--max-connections", "--backend", "Exit status:", "Examples:");
    }
}
