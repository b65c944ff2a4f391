package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

class AccessLogTest {
    @TempDir Path directory;

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private String next() throws InterruptedException {
        String line = lines.poll(20, TimeUnit.SECONDS);
        assertThat(line).as("a line for each request").isNotNull();
        return line;
    }

    private static void routes(HttpServer server, AccessLog log) {
        server.use(log)
                .get("/", (_, response) -> response.text("hello"))
                .get("/none", (_, response) -> response.status(204).send());
    }

    @Test
    void line_ofARequest_isInTheCombinedFormat() throws Exception {
        Instant time = Instant.parse("2026-11-16T12:00:01Z");
        try (AccessLog log = AccessLog.combined(lines::add, () -> time);
                ServedSite site = new ServedSite(server -> routes(server, log))) {
            site.get("/?a=b", "Referer: http://x/", "User-Agent: me");
            assertThat(next())
                    .matches(
                            "127\\.0\\.0\\.1 - - \\[16/Nov/2026:12:00:01 \\+0000\\] \"GET /\\?a=b"
                                    + " HTTP/1\\.1\" 200 5 \"http://x/\" \"me\" \\d+\\.\\d{6}");
            site.get("/none");
            assertThat(next()).contains("\"GET /none HTTP/1.1\" 204 - \"-\" \"-\" ");
            site.get("/missing");
            assertThat(next()).contains("\"GET /missing HTTP/1.1\" 404 ");
        }
    }

    @Test
    void reopen_afterTheFileWasRenamed_writesLaterLinesToANewOne() throws Exception {
        Path file = directory.resolve("access.log");
        Path rotated = directory.resolve("access.log.1");
        try (AccessLog log = AccessLog.common(file)) {
            try (ServedSite site = new ServedSite(server -> routes(server, log))) {
                site.get("/none");
                Files.move(file, rotated);
                log.reopen();
                site.get("/missing");
            }
        }
        assertThat(Files.readString(rotated)).contains("GET /none ").doesNotContain("/missing");
        assertThat(Files.readString(file)).contains("GET /missing ").doesNotContain("/none");
    }

    @Test
    void reopen_ofAPathThatCannotBeOpened_keepsTheFileAndThrows() throws Exception {
        Path file = Files.createDirectory(directory.resolve("logs")).resolve("access.log");
        Path rotated = directory.resolve("access.log.1");
        try (AccessLog log = AccessLog.common(file)) {
            try (ServedSite site = new ServedSite(server -> routes(server, log))) {
                Files.move(file, rotated);
                Files.delete(file.getParent());
                assertThatThrownBy(log::reopen)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(file.toString());
                site.get("/none");
            }
            assertThat(log.dropped()).isZero();
        }
        assertThat(Files.readString(rotated)).contains("GET /none ");
    }

    @Test
    void reopen_thatACloseOvertakes_returns() throws Exception {
        AccessLog log = AccessLog.common(directory.resolve("access.log"));
        log.close();
        log.reopen();
        log.requestReopen(); // As if the close came after the check.
    }

    @Test
    @Clause("V-6")
    void line_withConnectionIds_endsWithThatOfItsConnection() throws Exception {
        try (AccessLog log = AccessLog.combined(lines::add).withConnectionIds();
                ServedSite site = new ServedSite(server -> routes(server, log));
                Socket socket = site.connect()) {
            site.ask(socket, "GET", "/");
            String id = next().replaceFirst(".* conn=", "");
            assertThat(site.loop.connections().toCompletableFuture().join())
                    .extracting(each -> Long.toString(each.id()))
                    .containsExactly(id);
            socket.getOutputStream().write("no request\r\n\r\n".getBytes(ISO_8859_1));
            assertThat(next()).contains("\" 400 ").endsWith(" conn=" + id);
        }
    }

    @Test
    void duration_inASimulatedWorld_isThatOfItsClock() throws Exception {
        try (AccessLog log = AccessLog.common(lines::add);
                SimulatedWorld world = SimulatedWorld.seed(7)) {
            Duration delay = Duration.ofSeconds(30);
            HttpServer.on(world.loop())
                    .use(log)
                    .get(
                            "/",
                            (request, response) ->
                                    Promise.delay(request.loop(), delay)
                                            .then(_ -> response.text("late")))
                    .listen(80);
            world.connect(80).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofSeconds(31));
            assertThat(next()).matches(".* 200 4 30\\.00\\d{4}");
        }
    }

    @Test
    void line_ofAPeerThatWantsToForgeOne_isOneLine() throws Exception {
        try (AccessLog log = AccessLog.combined(lines::add);
                ServedSite site = new ServedSite(server -> routes(server, log))) {
            site.get("/", "User-Agent: a\" 200 5\\ \u00e9\tb");
            assertThat(next()).contains("\"a\\\" 200 5\\\\ \\xe9\\x09b\"").doesNotContain("\n");
        }
    }

    /// What the log says of bytes that a server refuses.
    private String lineOf(ServedSite site, String sent) throws Exception {
        try (Socket socket = site.connect()) {
            socket.getOutputStream().write(sent.getBytes(ISO_8859_1));
            assertThat(ServedSite.Answer.read(socket.getInputStream(), false).status())
                    .isGreaterThanOrEqualTo(400);
            return next();
        }
    }

    @Test
    @Clause("H-1")
    void line_ofWhatIsNoRequest_hasMethodAndTargetAsFarAsTheyAreKnown() throws Exception {
        try (AccessLog log = AccessLog.combined(lines::add);
                ServedSite site = new ServedSite(server -> routes(server, log))) {
            assertThat(lineOf(site, "\u0000\u0001\r\n\r\n")).contains("\"- - -\" 400 ");
            assertThat(lineOf(site, "M".repeat(40) + " / HTTP/1.1\r\n\r\n"))
                    .contains("\"- - -\" 501 ");
            assertThat(lineOf(site, "GET /" + "a".repeat(9_000) + " HTTP/1.1\r\n\r\n"))
                    .contains("\"GET /aaaaaaaa")
                    .contains("aaa -\" 414 ");
            assertThat(lineOf(site, "GET /a\u0001b HTTP/1.1\r\n\r\n"))
                    .contains("\"GET /a -\" 400 ");
            assertThat(lineOf(site, "GET /a HTTP/3.0\r\n\r\n")).contains("\"GET /a -\" 505 ");
            assertThat(lineOf(site, "PUT /a?b HTTP/1.1\r\n\r\n")).contains("\"PUT /a?b -\" 400 ");
            assertThat(lineOf(site, "GET /a HTTP/1.1\r\nX: " + "y".repeat(20_000) + "\r\n\r\n"))
                    .matches(
                            "127\\.0\\.0\\.1 - - \\[.*\\] \"GET /a -\" 431 \\d+ \"-\" \"-\""
                                    + " 0\\.000000");
            assertThat(lines).as("one line for each").isEmpty();
        }
    }

    @Test
    void line_ofContentThatIsTooLong_isThere() throws Exception {
        try (AccessLog log = AccessLog.common(lines::add);
                ServedSite site = new ServedSite(server -> routes(server, log))) {
            String head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n";
            assertThat(lineOf(site, head)).contains("\"POST / HTTP/1.1\" 413 ");
        }
    }

    @Test
    void file_afterTheEnd_hasAllLinesInOrder() throws Exception {
        Path file = directory.resolve("access.log");
        Files.writeString(file, "before\n");
        AccessLog log = AccessLog.common(file);
        try (ServedSite site = new ServedSite(server -> routes(server, log));
                Socket socket = site.connect()) {
            for (int i = 0; i < 500; i++) {
                site.ask(socket, "GET", "/?" + i);
            }
            log.close();
            List<String> all = Files.readAllLines(file);
            assertThat(all).hasSize(501);
            for (int i = 0; i < 500; i++) {
                assertThat(all.get(i + 1)).contains("\"GET /?" + i + " HTTP/1.1\" 200 5 0.");
            }
            assertThat(log.dropped()).isZero();
            site.ask(socket, "GET", "/");
            assertThat(Files.readAllLines(file))
                    .as("nothing is written after the end")
                    .hasSize(501);
        }
    }

    @Test
    void lines_ofAConsumerThatWaits_areDroppedAndCounted() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        AccessLog log =
                AccessLog.common(
                        line -> {
                            try {
                                goOn.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                            lines.add(line);
                        });
        int asked = 9_000;
        try (ServedSite site = new ServedSite(server -> routes(server, log));
                Socket socket = site.connect()) {
            String some = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100);
            for (int i = 0; i < asked / 100; i++) {
                socket.getOutputStream().write(some.getBytes(UTF_8));
                for (int j = 0; j < 100; j++) {
                    assertThat(ServedSite.Answer.read(socket.getInputStream(), false).status())
                            .as("the loop answers although nobody writes the log")
                            .isEqualTo(200);
                }
            }
        }
        goOn.countDown();
        log.close();
        assertThat(log.dropped()).isPositive();
        assertThat(lines.size() + log.dropped()).isEqualTo(asked);
    }

    @Test
    void consumer_thatThrows_losesItsOwnLineOnly() throws Exception {
        losesOneLineByAConsumerThat(
                () -> {
                    throw new IllegalStateException("on purpose");
                });
    }

    @Test
    void consumer_thatBreaksDown_losesItsOwnLineOnly() throws Exception {
        losesOneLineByAConsumerThat(
                () -> {
                    throw new LinkageError("on purpose");
                });
    }

    private void losesOneLineByAConsumerThat(Runnable fails) throws Exception {
        try (AccessLog log =
                        AccessLog.common(
                                line -> {
                                    if (line.contains("/?bad")) {
                                        fails.run();
                                    }
                                    lines.add(line);
                                });
                ServedSite site = new ServedSite(server -> routes(server, log))) {
            site.get("/?bad");
            site.get("/?good");
            assertThat(next()).contains("/?good");
            assertThat(log.dropped()).isEqualTo(1);
        }
    }

    @Test
    void close_withAConsumerThatHangs_givesUpWhatWaits() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        AccessLog log =
                AccessLog.common(
                        _ -> {
                            begun.countDown();
                            try {
                                never.await();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException("interrupted", e);
                            }
                        });
        try (ServedSite site = new ServedSite(server -> routes(server, log))) {
            for (int i = 0; i < 5; i++) {
                site.get("/");
            }
            begun.await();
            log.close(1);
            assertThat(log.dropped()).as("those that the consumer did not have").isBetween(4L, 5L);
        }
    }

    @Test
    void file_thatTakesNoMore_isCountedByLines() throws Exception {
        Path full = Path.of("/dev/full");
        assumeThat(full).exists();
        AccessLog log = AccessLog.common(full);
        try (ServedSite site = new ServedSite(server -> routes(server, log))) {
            for (int i = 0; i < 5; i++) {
                site.get("/");
            }
            log.close();
            assertThat(log.dropped()).isEqualTo(5);
        }
    }

    @Test
    void line_ofAPeerThatLeft_saysHowFarItGot() throws Exception {
        CountDownLatch asked = new CountDownLatch(2);
        try (AccessLog log = AccessLog.common(lines::add);
                ServedSite site =
                        new ServedSite(
                                server ->
                                        server.use(log)
                                                .get(
                                                        "/never",
                                                        (request, _) -> {
                                                            asked.countDown();
                                                            return request.loop()
                                                                    .deferred()
                                                                    .promise();
                                                        })
                                                .get(
                                                        "/half",
                                                        (request, response) -> {
                                                            response.stream().write("half");
                                                            asked.countDown();
                                                            return request.loop()
                                                                    .deferred()
                                                                    .promise();
                                                        }));
                Socket never = site.connect();
                Socket half = site.connect()) {
            never.getOutputStream().write(get("/never"));
            half.getOutputStream().write(get("/half"));
            asked.await();
            reset(never);
            assertThat(next()).matches(".*\"GET /never HTTP/1.1\" 499 - \\d+\\.\\d{6}");
            reset(half);
            assertThat(next()).matches(".*\"GET /half HTTP/1.1\" 200 4 \\d+\\.\\d{6} truncated");
        }
    }

    private static byte[] get(String target) {
        return ("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(UTF_8);
    }

    private static void reset(Socket socket) throws Exception {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Test
    void file_thatCannotBeOpened_isSaidAtOnce() {
        assertThatThrownBy(() -> AccessLog.common(directory.resolve("none/access.log")))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("none/access.log");
    }
}
