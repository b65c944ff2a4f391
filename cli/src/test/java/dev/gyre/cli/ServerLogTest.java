package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.LoopConfig;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import picocli.CommandLine;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The log of a server, and its reaction to SIGHUP.
final class ServerLogTest {
    private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+";

    @TempDir Path directory;

    private static int echoPort(String line) {
        return Integer.parseInt(line.replaceFirst(".* on [0-9.]+:(\\d+) .*", "$1"));
    }

    private static void echo(int port) throws IOException {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            client.setSoTimeout(60_000);
            client.getOutputStream().write("hello".getBytes(UTF_8));
            client.shutdownOutput();
            assertThat(client.getInputStream().readAllBytes()).isEqualTo("hello".getBytes(UTF_8));
        }
    }

    @Test
    void verbose_logsWhenAConnectionOpensAndCloses() throws Exception {
        try (Program server = Program.start("echo", "0", "-v", "--loops", "1")) {
            echo(echoPort(server.out()));
            assertThat(server.err())
                    .matches(
                            TIME
                                    + "\\+\\d{4} INFO dev\\.gyre\\.cli: connection \\d+ with"
                                    + " 127\\.0\\.0\\.1:\\d+ opened on loop echo-0");
            assertThat(server.err())
                    .matches(
                            ".* INFO dev\\.gyre\\.cli: connection \\d+ with 127\\.0\\.0\\.1:\\d+"
                                    + " closed: ended, 5 bytes received, 5 bytes sent");
        }
    }

    @Test
    void verbose_ofAWebServer_logsItsConnections() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "-v");
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), ServeTest.port(server))) {
            assertThat(server.err()).contains("connection ").contains(" opened on loop serve-");
            client.shutdownOutput();
            assertThat(server.err()).contains(" closed: ").contains("0 bytes received");
        }
    }

    @Test
    void json_isOneObjectPerLine_onBothStreams() throws Exception {
        try (Program server =
                Program.start("echo", "0", "--tls", "--log-format", "json", "--backend", "epoll")) {
            String start = server.out();
            assertThat(start)
                    .matches(
                            "\\{\"time\":\""
                                    + TIME
                                    + "Z\",\"level\":\"INFO\",\"logger\":\"dev.gyre.cli\","
                                    + "\"message\":\"Echo on 127\\.0\\.0\\.1:\\d+ .*\"}");
            assertThat(server.err()).contains("\"message\":\"Using a self-signed certificate");
            server.send(Signal.SIGTERM);
            assertThat(server.restOfOut())
                    .singleElement()
                    .asString()
                    .startsWith("{\"time\":")
                    .contains("\"message\":\"Stopped by SIGTERM: ");
        }
    }

    @Test
    void json_appliesToTheLoggersOfTheLibraries() throws Exception {
        List<Socket> peers = new ArrayList<>();
        try (Program server =
                Program.inShell(
                        "ulimit -n 200; exec \"$@\"",
                        "echo",
                        "0",
                        "--loops=1",
                        "--log-format=json")) {
            int port = echoPort(server.out());
            for (int i = 0; i < 200; i++) {
                peers.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            String line = server.err();
            while (!line.contains("has stopped accepting")) {
                assertThat(line).startsWith("{\"time\":\"").endsWith("\"}");
                line = server.err();
            }
            assertThat(line)
                    .startsWith("{\"time\":\"")
                    .contains("\"level\":\"WARNING\",\"logger\":\"dev.gyre\",\"message\":\"")
                    .contains("ulimit -n");
        } finally {
            for (Socket peer : peers) {
                peer.close();
            }
        }
    }

    /// A terminal that is paused with Ctrl-S.
    private static final class PausedWriter extends StringWriter {
        private final CountDownLatch resumed = new CountDownLatch(1);

        @Override
        public void write(String text, int offset, int length) {
            try {
                resumed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            super.write(text, offset, length);
        }
    }

    private static ServerLog logTo(Writer err) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err));
        return ServerLog.open(commandLine, ServerLog.Format.TEXT);
    }

    @Test
    @Timeout(60)
    void log_whileTheOutputIsBlocked_returnsAndCountsWhatItDrops() {
        PausedWriter err = new PausedWriter();
        try (ServerLog log = logTo(err).start()) {
            for (int i = 0; i < ServerLog.MAX_QUEUED + 100; i++) {
                log.log(Level.INFO, "event " + i + ".");
            }
            err.resumed.countDown();
        }
        List<String> lines = err.toString().lines().toList();
        assertThat(lines.getFirst()).endsWith(" INFO dev.gyre.cli: event 0.");
        Matcher dropped =
                Pattern.compile("dropped, because the output was blocked: (\\d+)")
                        .matcher(lines.getLast());
        assertThat(dropped.find()).as(lines.getLast()).isTrue();
        assertThat(lines.size() - 1 + Integer.parseInt(dropped.group(1)))
                .isEqualTo(ServerLog.MAX_QUEUED + 100);
    }

    @Test
    void reload_thatThrows_isLogged_andTheOthersRun() {
        StringWriter err = new StringWriter();
        int status =
                StreamServerRunner.open(
                        logTo(err),
                        LoopConfig.DEFAULT,
                        1,
                        runner -> {
                            runner.onHangUp(
                                    "the first",
                                    () -> {
                                        throw new IllegalStateException("closed");
                                    });
                            runner.onHangUp("the second", () -> {});
                            runner.reload();
                            return 0;
                        });
        assertThat(status).isZero();
        assertThat(err.toString().lines())
                .satisfiesExactly(
                        first ->
                                assertThat(first)
                                        .contains("cannot reload the first, the previous one")
                                        .endsWith("IllegalStateException: closed"),
                        second -> assertThat(second).endsWith("SIGHUP: reloaded the second"));
    }

    @Test
    void logFormat_unknown_namesTheAllowedOnes() {
        Execution execution = Execution.of("echo", "0", "--log-format", "xml");
        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains("--log-format").contains("'xml' is not text or json");
    }

    @Test
    void hangUp_afterTheAccessLogWasRenamed_opensANewOne() throws Exception {
        Path log = directory.resolve("access.log");
        Path rotated = directory.resolve("access.log.1");
        try (Program server = Program.start("serve", "--port", "0", "-l", log.toString())) {
            String root = "http://127.0.0.1:" + ServeTest.port(server);
            curl(root + "/json");
            Files.move(log, rotated);
            server.send(Signal.SIGHUP);
            assertThat(server.err())
                    .endsWith("INFO dev.gyre.cli: SIGHUP: reloaded the access log " + log);
            curl(root + "/plaintext");
            server.send(Signal.SIGTERM);
            assertThat(server.status()).isEqualTo(143);
        }
        assertThat(Files.readString(rotated)).contains("/json").doesNotContain("/plaintext");
        assertThat(Files.readString(log)).contains("/plaintext").doesNotContain("/json");
    }

    private static String curl(String uri) throws Exception {
        return new String(Tool.talk(new byte[0], "curl", "-sS", "--noproxy", "*", uri), UTF_8);
    }

    @Test
    void hangUp_reloadsTheCertificate_andKeepsItIfTheNewOneIsUnusable() throws Exception {
        Tool.CertificateFiles files = Tool.certificate(directory);
        try (Program server =
                Program.start(
                        "serve",
                        "--port",
                        "0",
                        "--tls",
                        "--cert",
                        files.certificate(),
                        "--key",
                        files.key())) {
            int port = ServeTest.port(server);
            assertThat(shown(port)).isEqualTo(serial(Path.of(files.certificate())));

            Path renewed = Files.createDirectory(directory.resolve("renewed"));
            Tool.CertificateFiles next = Tool.certificate(renewed);
            replace(next.certificate(), files.certificate());
            replace(next.key(), files.key());
            server.send(Signal.SIGHUP);
            assertThat(server.err())
                    .endsWith("SIGHUP: reloaded the certificate " + files.certificate());
            String now = serial(Path.of(files.certificate()));
            assertThat(shown(port)).isEqualTo(now);

            Files.writeString(Path.of(files.certificate()), "no certificate");
            server.send(Signal.SIGHUP);
            assertThat(server.err())
                    .contains(" ERROR dev.gyre.cli: SIGHUP: cannot reload the certificate ")
                    .contains("the previous one stays in use");
            assertThat(shown(port)).isEqualTo(now);
        }
    }

    private static void replace(String from, String to) throws IOException {
        Files.copy(Path.of(from), Path.of(to), StandardCopyOption.REPLACE_EXISTING);
    }

    private static String serial(Path pem) throws Exception {
        return serial(Files.readString(pem));
    }

    private static String serial(String pem) throws Exception {
        int begin = pem.indexOf("-----BEGIN CERTIFICATE");
        X509Certificate read =
                (X509Certificate)
                        CertificateFactory.getInstance("X.509")
                                .generateCertificate(
                                        new ByteArrayInputStream(
                                                pem.substring(begin).getBytes(UTF_8)));
        return read.getSerialNumber().toString(16);
    }

    /// Returns the serial number of the certificate that the server shows to openssl.
    private static String shown(int port) throws Exception {
        byte[] said =
                Tool.talk(new byte[0], "openssl", "s_client", "-connect", "127.0.0.1:" + port);
        return serial(new String(said, UTF_8));
    }

    @Test
    void hangUp_withoutFiles_saysSoAndServesOn() throws Exception {
        try (Program server = Program.start("echo", "0")) {
            int port = echoPort(server.out());
            server.send(Signal.SIGHUP);
            assertThat(server.err()).endsWith("SIGHUP: no files to reload");
            echo(port);
        }
    }

    @Test
    void hangUp_ofATerminalThatWasClosed_stops() throws Exception {
        Tool.require("script");
        Path pid = directory.resolve("pid");
        try (Program script =
                Program.inShell(
                        "exec script -qec \"echo \\$\\$ > %s; exec $*\" /dev/null".formatted(pid),
                        "echo",
                        "0")) {
            assertThat(script.out()).contains("Echo on ");
            ProcessHandle server =
                    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
            try {
                script.send(Signal.SIGKILL); // closes its side of the terminal
                assertThat(server.onExit().get(60, TimeUnit.SECONDS).isAlive()).isFalse();
            } finally {
                server.destroyForcibly();
            }
        }
    }
}
