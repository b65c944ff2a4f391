package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The servers of the command line with several loops.
final class LoopsTest {
    private static final int TRIALS = 20;
    private static final byte[] REQUEST =
            "GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(US_ASCII);

    @TempDir Path directory;
    private final List<Socket> clients = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket each : clients) {
            each.close();
        }
        clients.clear();
    }

    private Socket connect(int port) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.setSoTimeout(60_000);
        clients.add(client);
        return client;
    }

    private static void send(Socket client) throws IOException {
        client.getOutputStream().write(REQUEST);
    }

    private static void receive(Socket client) throws IOException {
        StringBuilder received = new StringBuilder();
        while (!received.toString().endsWith("Hello, World!")) {
            int next = client.getInputStream().read();
            assertThat(next).as("after: %s", received).isNotNegative();
            received.append((char) next);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 10})
    void serve_atItsLimit_servesThatManyClients_andNeverOneMore(int limit) throws Exception {
        try (Program server =
                Program.start(
                        "serve",
                        "--port",
                        "0",
                        "--loops",
                        "2",
                        "--max-connections",
                        String.valueOf(limit))) {
            int port = ServeTest.port(server);
            for (int trial = 0; trial < TRIALS; trial++) {
                for (int i = 0; i < limit; i++) {
                    Socket client = connect(port);
                    send(client);
                    receive(client);
                }
                Socket another = connect(port);
                send(another);
                for (Socket each : clients.subList(0, limit)) {
                    send(each);
                    receive(each);
                }
                assertThat(another.getInputStream().available()).as("it waits").isZero();
                clients.removeFirst().close();
                receive(another);
                close();
            }
            server.send(Signal.SIGINT);
            assertThat(server.restOfOut())
                    .last()
                    .asString()
                    .contains("on " + TRIALS * (limit + 1) + " connections");
            assertThat(server.status()).isEqualTo(130);
        }
    }

    @Test
    void serve_onAUnixSocket_mayHaveSeveralLoops() throws Exception {
        Path path = directory.resolve("web.sock");
        try (Program server = Program.start("serve", "--unix", path.toString(), "--loops", "2")) {
            assertThat(server.out()).contains("(2 loops, ");
            for (int i = 0; i < 4; i++) {
                byte[] body =
                        Tool.talk(
                                new byte[0],
                                "curl",
                                "-sS",
                                "--unix-socket",
                                path.toString(),
                                "http://localhost/plaintext");
                assertThat(body).asString(US_ASCII).isEqualTo("Hello, World!");
            }
            server.send(Signal.SIGTERM);
            assertThat(server.status()).isEqualTo(143);
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void echoAndProxy_onSeveralLoops_countAndDrainAll() throws Exception {
        int count = 16;
        try (Program echo = Program.start("echo", "--loops", "2", "0");
                Program proxy =
                        Program.start("proxy", "--loops", "2", "0", "" + EchoTest.port(echo))) {
            int port = EchoTest.port(proxy);
            for (int i = 0; i < count; i++) {
                Socket client = connect(port);
                client.getOutputStream().write("hello\n".getBytes(US_ASCII));
                assertThat(client.getInputStream().readNBytes(6))
                        .asString(US_ASCII)
                        .isEqualTo("hello\n");
            }
            proxy.send(Signal.SIGINT);
            assertThat(proxy.out()).startsWith("Draining 16 connections (up to 5 s)");
            for (Socket each : clients) {
                each.shutdownOutput();
                assertThat(each.getInputStream().read()).as("the end").isEqualTo(-1);
            }
            String summary = ": 16 connections, 96 bytes received, 96 bytes sent; 16 ";
            assertThat(proxy.restOfOut())
                    .containsExactly("Stopped by SIGINT" + summary + "closed.");
            echo.send(Signal.SIGTERM);
            assertThat(echo.restOfOut())
                    .last()
                    .isEqualTo("Stopped by SIGTERM" + summary + "ended.");
            assertThat(proxy.status()).isEqualTo(130);
            assertThat(echo.status()).isEqualTo(143);
        }
    }

    @Test
    void proxy_stoppedTwice_resetsBothSidesOnAllLoops() throws Exception {
        try (Program echo = Program.start("echo", "--loops", "2", "0");
                Program proxy =
                        Program.start("proxy", "--loops", "2", "0", "" + EchoTest.port(echo))) {
            int port = EchoTest.port(proxy);
            for (int i = 0; i < 8; i++) {
                Socket client = connect(port);
                client.getOutputStream().write("hello\n".getBytes(US_ASCII));
                client.getInputStream().readNBytes(6);
            }
            proxy.send(Signal.SIGINT);
            assertThat(proxy.out()).startsWith("Draining 8 connections");
            proxy.send(Signal.SIGINT);
            assertThat(proxy.restOfOut()).last().asString().contains("8 aborted");
            assertThat(proxy.status()).isEqualTo(130);
        }
    }

    @Test
    void loopsOutOfRange_areRefused() {
        assertThat(Execution.of("echo", "--udp", "--loops", "2", "0").err())
                .contains("--udp excludes --loops");
        assertThat(Execution.of("proxy", "--loops", "0", "0", "1").err())
                .contains("'--loops': must be at least 1");
        assertThat(Execution.of("c10k", "--loops", "0").err())
                .contains("'--loops': must be from 1");
    }
}
