package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.cli.serve.AotTraining;
import dev.gyre.http.WebSocket;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// `gyre serve` while it serves, with curl as its peer. What it refuses is in [ServeRefusalsTest].
final class ServeTest {
    private static final Pattern ANNOUNCEMENT =
            Pattern.compile(".+ on https?://\\S+:(\\d+)/ \\(.*\\)\\. Press Ctrl-C to stop\\.");
    private static final int PATIENCE_MILLIS = 60_000;

    @TempDir Path directory;

    /// The port that a server says it listens on.
    static int port(Program server) throws InterruptedException {
        String line = server.out();
        Matcher matcher = ANNOUNCEMENT.matcher(line);
        assertThat(matcher.matches()).as("this should say where it is: %s", line).isTrue();
        return Integer.parseInt(matcher.group(1));
    }

    private static byte[] curl(byte[] input, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("curl", "-sS", "--noproxy", "*"));
        command.addAll(List.of(arguments));
        return Tool.talk(input, command.toArray(String[]::new));
    }

    private static String get(String... arguments) throws Exception {
        return new String(curl(new byte[0], arguments), UTF_8);
    }

    // ------------------------------------------------------------------ the demonstration

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring"})
    void serve_withoutADirectory_answersAtEveryEndpoint(String backend) throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--backend", backend)) {
            String root = "http://127.0.0.1:" + port(server);

            assertThat(get(root + "/")).contains("<title>Gyre is running</title>");
            assertThat(get(root + "/plaintext")).isEqualTo("Hello, World!");
            assertThat(get(root + "/json")).isEqualTo("{\"message\":\"Hello, World!\"}");
            assertThat(get("-X", "PURGE", "-d", "what", root + "/echo")).isEqualTo("what");
            assertThat(get(root + "/echo")).isEmpty();
            assertThat(get(root + "/large?bytes=1234567")).hasSize(1_234_567);
            assertThat(get("-I", root + "/large?bytes=1099511627776"))
                    .contains("Content-Length: 1099511627776");
            assertThat(get("-I", root + "/events")).contains("text/event-stream");
            assertThat(get(root + "/slow?ms=20")).startsWith("responded after 20 ms");
            assertThat(get(root + "/slow?ms=never")).contains("ms must be a number");
            assertThat(get("-o", "/dev/null", "-w", "%{http_code}", root + "/nowhere"))
                    .isEqualTo("404");

            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .last()
                    .asString()
                    .isEqualTo("Stopped by SIGINT: 11 requests on 11 connections.");
            assertThat(server.status()).isEqualTo(130);
            assertThat(server.restOfErr()).isEmpty();
        }
    }

    @Test
    void serve_slow_whosePeerEndsItsSide_isGivenUpAtOnce() throws Exception {
        try (Program server = Program.start("serve", "--port", "0");
                Socket peer = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            peer.setSoTimeout(20_000);
            peer.getOutputStream()
                    .write("GET /slow?ms=60000 HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
            peer.shutdownOutput();
            assertThat(peer.getInputStream().read()).as("the end, and no answer").isEqualTo(-1);
        }
    }

    @Test
    void serve_metrics_areOfAllLoops() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--loops", "3")) {
            String root = "http://127.0.0.1:" + port(server);
            assertThat(get(root + "/plaintext")).isEqualTo("Hello, World!");

            List<String> lines = get(root + "/metrics").lines().toList();

            assertThat(lines)
                    .contains("# TYPE gyre_http_requests_total counter")
                    .anyMatch(line -> line.startsWith("gyre_loop_ticks_total{loop=\"serve-2\"} "))
                    .contains(
                            "http_server_request_duration_seconds_count{http_request_method=\"GET\","
                                + "http_route=\"/plaintext\",http_response_status_code=\"200\",url_scheme=\"http\"}"
                                + " 1");
            assertThat(
                            lines.stream()
                                    .filter(line -> line.startsWith("gyre_http_requests_total{"))
                                    .mapToInt(line -> Integer.parseInt(line.split(" ", -1)[1]))
                                    .sum())
                    .as("requests, this one included")
                    .isEqualTo(2);
        }
    }

    @Test
    @SuppressWarnings("StringConcatToTextBlock") // each line's end is part of what is said
    void serve_echoOfWhatIsNoContent_saysSoBehindWhatWasAnswered() throws Exception {
        try (Program server = Program.start("serve", "--port", "0");
                Socket client = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            client.setSoTimeout(60_000);
            String requests =
                    "GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n"
                            + "POST /echo HTTP/1.1\r\n"
                            + "Host: localhost\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n"
                            + "ZZ\r\n";
            client.getOutputStream().write(requests.getBytes(UTF_8));

            assertThat(new String(client.getInputStream().readAllBytes(), UTF_8))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("Hello, World!HTTP/1.1 400 ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Expect:", "Transfer-Encoding: chunked", "Expect: 100-continue"})
    void serve_echoOfMegabytes_isTheSame(String header) throws Exception {
        byte[] noise = new byte[5_000_000];
        new Random(42).nextBytes(noise);
        Path file = Files.write(directory.resolve("noise"), noise);
        try (Program server = Program.start("serve", "--port", "0", "--max-body", "5m")) {
            String echo = "http://127.0.0.1:" + port(server) + "/echo";

            assertThat(curl(new byte[0], "-T", file.toString(), "-H", header, echo))
                    .isEqualTo(noise);
        }
    }

    @Test
    void serve_moreContentThanItTakes_isRefusedWith413() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--max-body", "4")) {
            String echo = "http://127.0.0.1:" + port(server) + "/echo";

            assertThat(get("-d", "four", echo)).isEqualTo("four");
            assertThat(get("-o", "/dev/null", "-w", "%{http_code}", "-d", "five5", echo))
                    .isEqualTo("413");
        }
    }

    @Test
    void serve_events_comeAndEndWithTheServer() throws Exception {
        try (Program server = Program.start("serve", "--port", "0");
                Socket client = connect(port(server))) {
            client.getOutputStream()
                    .write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(UTF_8));
            var reader = new BufferedReader(new InputStreamReader(client.getInputStream(), UTF_8));
            String line = reader.readLine();
            for (int events = 0; events < 2; line = reader.readLine()) {
                assertThat(line).as("the stream goes on for two events").isNotNull();
                events += line.equals("event: tick") ? 1 : 0;
            }
            assertThat(line).startsWith("data: {\"loop\":\"serve-");
            server.send(Signal.SIGINT);
            List<String> rest = reader.lines().toList();
            assertThat(rest).as("ended, and not cut off").endsWith("0", "");
            client.shutdownOutput();
            assertThat(server.restOfOut()).last().asString().doesNotContain("cut off");
        }
    }

    @Test
    void serve_webSocket_echoesTextAndBinaryAndIsClosedWithTheServer() throws Exception {
        try (Program server = Program.start("serve", "--port", "0");
                EventLoop loop = EventLoop.open()) {
            URI uri = URI.create("ws://127.0.0.1:" + port(server) + "/ws/echo");
            List<String> heard = new ArrayList<>();
            var _ =
                    WebSocket.connect(loop, uri)
                            .thenAccept(
                                    socket -> {
                                        socket.onText(
                                                        text -> {
                                                            heard.add(text);
                                                            socket.send(new byte[] {1, 2, 3});
                                                        })
                                                .onBinary(
                                                        data -> {
                                                            heard.add(data.readable() + " bytes");
                                                            server.send(Signal.SIGINT);
                                                        })
                                                .onClose(
                                                        (code, _) -> {
                                                            heard.add("closed with " + code);
                                                            loop.stop();
                                                        });
                                        socket.send("hello");
                                    });
            loop.run();
            assertThat(heard).containsExactly("hello", "3 bytes", "closed with 1001");
            assertThat(server.status()).isEqualTo(130);
        }
    }

    // ------------------------------------------------------------------ ends

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    /// Sends half of what is to be echoed, and waits for it: the request is under way then.
    private static void sendHalf(Socket client) throws IOException {
        client.getOutputStream()
                .write(
                        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nhalf"
                                .getBytes(UTF_8));
        StringBuilder received = new StringBuilder();
        while (!received.toString().endsWith("\r\n\r\nhalf")) {
            int next = client.getInputStream().read();
            assertThat(next).as("more than %s", received).isNotNegative();
            received.append((char) next);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SIGINT", "SIGTERM"})
    void serve_stoppedWithARequestUnderWay_answersItFirst(Signal signal) throws Exception {
        try (Program server = Program.start("serve", "--port", "0")) {
            int port = port(server);
            try (Socket client = connect(port)) {
                sendHalf(client);
                server.send(signal);
                assertThat(server.out()).startsWith("Draining 1 connection (up to 10 s)");

                client.getOutputStream().write("more".getBytes(UTF_8));
                assertThat(client.getInputStream().readAllBytes())
                        .as("the rest, and the end")
                        .isEqualTo("more".getBytes(UTF_8));
            }
            assertThat(server.restOfOut())
                    .containsExactly("Stopped by " + signal + ": 1 request on 1 connection.");
            assertThat(server.status()).isEqualTo(128 + signal.number());
            assertThat(server.restOfErr()).isEmpty();
        }
    }

    @Test
    void serve_stoppedTwice_cutsARequestOff() throws Exception {
        try (Program server = Program.start("serve", "--port", "0");
                Socket client = connect(port(server))) {
            sendHalf(client);
            server.send(Signal.SIGINT);
            assertThat(server.out()).startsWith("Draining");
            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .containsExactly("Stopped by SIGINT: 1 request on 1 connection; 1 aborted.");
            assertThat(server.status()).isEqualTo(130);
        }
    }

    @Test
    void serve_stoppedWithAnIdleConnection_waitsForNothing_andSaysSo() throws Exception {
        try (Program server = Program.start("serve", "--port", "0");
                Socket client = connect(port(server))) {
            client.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
            assertThat(client.getInputStream().read()).isEqualTo('H');
            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .containsExactly(
                            "Stopped by SIGINT: 1 request on 1 connection; 1 linger timeout.");
        }
    }

    @Test
    void serve_aConnectionThatIsIdleForTooLong_isClosed() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--idle-timeout", "50ms");
                Socket client = connect(port(server))) {
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void serve_untilInputEnds_endsWithIt() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--until-input-ends")) {
            int _ = port(server);
            server.endInput();
            assertThat(server.status()).isEqualTo(143);
        }
    }

    @Test
    void serve_rehearsing_asksItselfForEverythingAndEnds() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--train")) {
            int _ = port(server);
            Matcher end =
                    Pattern.compile("Stopped by SIGTERM: (\\d+) requests on (\\d+) connections\\.")
                            .matcher(server.restOfOut().getLast());
            assertThat(end).as("what it says at its end").matches();
            assertThat(Integer.parseInt(end.group(1))).isGreaterThan(AotTraining.REPEATED);
            assertThat(Integer.parseInt(end.group(2))).isGreaterThan(AotTraining.CONNECTIONS);
            assertThat(server.status()).isZero();
            assertThat(server.restOfErr()).isEmpty();
        }
    }

    // ------------------------------------------------------------------ other places

    @Test
    void serve_onAUnixSocket_answersCurlAndLeavesNoFile() throws Exception {
        Path path = directory.resolve("web.sock");
        try (Program server = Program.start("serve", "--unix", path.toString())) {
            assertThat(server.out()).startsWith("Demo on unix:" + path + " (1 loop, ");
            assertThat(get("--unix-socket", path.toString(), "http://localhost/plaintext"))
                    .isEqualTo("Hello, World!");
            server.send(Signal.SIGTERM);
            assertThat(server.status()).isEqualTo(143);
            assertThat(path).doesNotExist();
        }
    }

    @ParameterizedTest
    @CsvSource({"::1, [::1]", "0.0.0.0, 127.0.0.1", "localhost, 127.0.0.1"})
    void serve_onAHost_isThere(String host, String reachedAs) throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--host", host)) {
            assertThat(get("-g", "http://" + reachedAs + ":" + port(server) + "/plaintext"))
                    .isEqualTo("Hello, World!");
        }
    }

    @Test
    void serve_overTls_answersCurlThatVerifiesIt() throws Exception {
        Tool.require("openssl");
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
            String root = "https://localhost:" + port(server);
            assertThat(get("--cacert", files.certificate(), root + "/plaintext"))
                    .isEqualTo("Hello, World!");
        }
    }

    // ------------------------------------------------------------------ files, and what is noted

    @Test
    void serve_aDirectory_servesItsFilesAndListsThemIfTold() throws Exception {
        Path site = Files.createDirectory(directory.resolve("site"));
        Files.writeString(site.resolve("page.html"), "<p>hello</p>");
        try (Program server =
                Program.start(
                        "serve",
                        "--port",
                        "0",
                        "--listing",
                        "--cache-control",
                        "max-age=60",
                        site.toString())) {
            String root = "http://127.0.0.1:" + port(server);
            assertThat(get("-i", root + "/page.html"))
                    .contains("Content-Type: text/html", "Cache-Control: max-age=60")
                    .endsWith("<p>hello</p>");
            assertThat(get(root + "/")).contains("page.html");
            assertThat(get("-o", "/dev/null", "-w", "%{http_code}", root + "/plaintext"))
                    .as("the demonstration is not there")
                    .isEqualTo("404");
        }
    }

    @Test
    void serve_withAnAccessLog_addsALineForEachRequest() throws Exception {
        Path log = Files.writeString(directory.resolve("access.log"), "before\n");
        try (Program server = Program.start("serve", "--port", "0", "-l", log.toString())) {
            String root = "http://127.0.0.1:" + port(server);
            String _ = get(root + "/json", root + "/a?b=%22");
            server.send(Signal.SIGINT);
            assertThat(server.status()).isEqualTo(130);
        }
        assertThat(Files.readAllLines(log))
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("before"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "127\\.0\\.0\\.1 - - \\[.*] \"GET /json"
                                                        + " HTTP/1\\.1\" 200 27 \\d+\\.\\d+"),
                        line -> assertThat(line).contains("\"GET /a?b=%22 HTTP/1.1\" 404 "));
    }

    @Test
    void serve_withAnAccessLogOnStandardOutput_writesAtOnce() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--access-log", "-")) {
            String _ = get("http://127.0.0.1:" + port(server) + "/plaintext");
            assertThat(server.out()).contains("\"GET /plaintext HTTP/1.1\" 200 13 ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "off"})
    void serve_withoutAnAccessLog_createsNoFileOfThatName(String value) throws Exception {
        try (Program server =
                Program.inShell(
                        "cd '" + directory + "' && exec \"$@\"",
                        "serve",
                        "--port",
                        "0",
                        "--access-log",
                        value)) {
            assertThat(get("http://127.0.0.1:" + port(server) + "/plaintext"))
                    .isEqualTo("Hello, World!");
            server.send(Signal.SIGTERM);
            server.status();
        }
        assertThat(directory).isEmptyDirectory();
    }
}
