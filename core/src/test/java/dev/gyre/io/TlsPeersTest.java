package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.tls.Certificates;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Clause X-1 with peers that know nothing of Java: OpenSSL and curl.
@On("epoll")
class TlsPeersTest extends StreamFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private Tls serverTls() throws IOException {
        return Certificates.server();
    }

    /// Runs a program beside the loop.
    ///
    /// @param input what it is given; its input ends behind that
    private static CompletableFuture<String> program(String input, String... command) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        Process process =
                                new ProcessBuilder(command).redirectErrorStream(true).start();
                        try (var in = process.getOutputStream()) {
                            in.write(input.getBytes(UTF_8));
                        }
                        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
                        return said + "\nstatus " + process.waitFor();
                    } catch (IOException | InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                Thread::startVirtualThread);
    }

    /// Turns the loop until the program has ended.
    private String said(CompletableFuture<String> program) {
        CompletableFuture<String> woken = program.whenComplete((_, _) -> loop.trySubmit(() -> {}));
        runUntil("the program has ended", program::isDone);
        return woken.join();
    }

    private static void requireTool(String name) {
        boolean found;
        try {
            found = new ProcessBuilder(name, "--version").start().waitFor() == 0;
        } catch (IOException | InterruptedException e) {
            found = false;
        }
        assumeTrue(
                found || System.getenv("CI") != null,
                "no " + name + " (apt-get install " + name + ")");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_2", "-tls1_3"})
    @Clause("X-1")
    void server_withOpenSslAsItsClient_echoesAndEndsInOrder(String version) throws IOException {
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT.withTls(serverTls().withProtocols("echo/1")),
                        stream -> {
                            record("server", stream);
                            stream.onData(
                                    data -> {
                                        stream.write(data);
                                        stream.close();
                                    });
                        });

        String said =
                said(
                        program(
                                "hello\n",
                                "openssl",
                                "s_client",
                                version,
                                "-connect",
                                "127.0.0.1:" + address().getPort(),
                                "-servername",
                                "localhost",
                                "-verify_return_error",
                                "-verify_hostname",
                                "localhost",
                                "-alpn",
                                "echo/1",
                                "-CAfile",
                                Certificates.pem("ca").toString(),
                                "-ign_eof"));

        assertThat(said)
                .contains("Verification: OK")
                .contains("ALPN protocol: echo/1")
                .contains("\nhello\n")
                .contains("closed")
                .endsWith("status 0");
        awaitEvent("server CLOSED");
    }

    @Test
    @Clause("X-1")
    void server_withCurlAsItsClient_isAnsweredTwiceOnOneConnection() throws IOException {
        requireTool("curl");
        List<String> requests = new ArrayList<>();
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT.withTls(serverTls().withProtocols("http/1.1")),
                        stream ->
                                stream.onData(
                                        data -> {
                                            requests.add(data.getText(UTF_8));
                                            stream.write(
                                                    "HTTP/1.1 200 OK\r\nContent-Length:"
                                                            + " 100000\r\n\r\n");
                                            stream.write("x".repeat(100_000));
                                        }));
        String url = "https://localhost:" + address().getPort() + "/";

        String said =
                said(
                        program(
                                "",
                                "curl",
                                "--silent",
                                "--show-error",
                                "--cacert",
                                Certificates.pem("ca").toString(),
                                "--resolve",
                                "localhost:" + address().getPort() + ":127.0.0.1",
                                "--write-out",
                                " %{http_code} %{size_download} %{num_connects}\\n",
                                "--output",
                                "/dev/null",
                                "--output",
                                "/dev/null",
                                url,
                                url));

        assertThat(said).contains(" 200 100000 1\n 200 100000 0\n").endsWith("status 0");
        assertThat(requests).hasSize(2).allMatch(request -> request.startsWith("GET / HTTP/1.1"));
    }

    @Test
    @Clause("X-1")
    void server_withCurlThatDoesNotTrustIt_isRefused() throws IOException {
        requireTool("curl");
        listen(ListenerConfig.DEFAULT.withTls(Tls.selfSigned("localhost")));

        String said =
                said(
                        program(
                                "",
                                "curl",
                                "--silent",
                                "--show-error",
                                "https://127.0.0.1:" + address().getPort() + "/"));

        assertThat(said).containsIgnoringCase("self-signed certificate").endsWith("status 60");
        assertThat(server).isNull();
        runUntil("let go", () -> listener.connections() == 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_2", "-tls1_3"})
    @Clause("X-1")
    void client_withOpenSslAsItsServer_isHeardAndAnswered(String version) throws Exception {
        Process process =
                new ProcessBuilder(
                                "openssl",
                                "s_server",
                                version,
                                "-accept",
                                "127.0.0.1:0",
                                "-cert",
                                Certificates.pem("server").toString(),
                                "-key",
                                Certificates.key("server").toString(),
                                "-CAfile",
                                Certificates.pem("ca").toString(),
                                "-Verify",
                                "2",
                                "-rev",
                                "-naccept",
                                "1")
                        .redirectErrorStream(true)
                        .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
            int port = portOf(output);
            Tls tls =
                    Tls.client()
                            .withTrustedCertificates(Certificates.pem("ca"))
                            .withCertificate(
                                    Certificates.pem("client"), Certificates.key("client"));
            client =
                    outcome(
                            Stream.connect(
                                    loop,
                                    InetSocketAddress.createUnresolved("localhost", port),
                                    StreamConfig.DEFAULT.withTls(tls)));
            StringBuilder answer = new StringBuilder();
            client.onData(data -> answer.append(data.getText(UTF_8)));
            client.write("drawer\n");

            runUntil("answered", () -> answer.indexOf("\n") >= 0);
            assertThat(answer.toString()).isEqualTo("reward\n");
            client.close();
            awaitClosed(client);
            assertThat(client.closeReason().isOrderly()).as("%s", client.closeReason()).isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static int portOf(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("ACCEPT")) {
                return Integer.parseInt(line.substring(line.lastIndexOf(':') + 1));
            }
        }
        throw new AssertionError("s_server did not say where it listens");
    }
}
