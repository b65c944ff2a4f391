package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/// The number of concurrent lookups, with a disk whose reads the test completes.
class FileLooksTest {
    private static final int AT_ONCE = 64;
    private static final int WAITING = 512;

    @TempDir Path directory;

    private final Queue<Runnable> disk = new ArrayDeque<>();
    private final EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withExecutor(disk::add));
    private final List<String> answers = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private void runUntil(String what, BooleanSupplier holds) {
        long giveUpNanos = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime() - giveUpNanos)
                    .as("waited for 20 seconds and it does not hold: %s; %s", what, answers)
                    .isNegative();
            loop.runFor(Duration.ofMillis(1));
        }
    }

    private HttpServer server() throws IOException {
        return server(FilesConfig.DEFAULT);
    }

    private HttpServer server(FilesConfig config) throws IOException {
        for (int i = 0; i < 4; i++) {
            Files.writeString(directory.resolve("a" + i), "content " + i);
        }
        return HttpServer.on(loop)
                .files("/", directory, config)
                .listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        ListenerConfig.DEFAULT);
    }

    private void ask(HttpServer server, String target) {
        Stream.connect(loop, server.address())
                .thenAccept(
                        stream -> {
                            stream.onData(
                                    data -> {
                                        String text = data.getText(StandardCharsets.US_ASCII);
                                        answers.add(text);
                                        stream.close();
                                    });
                            stream.write("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
                        });
    }

    private static boolean isRefusal(String answer) {
        return answer.startsWith("HTTP/1.1 503 ") && answer.contains("\r\nRetry-After: 1\r\n");
    }

    @Test
    @Clause("H-3")
    void looks_atTheDisk_areAtMost64AtATime_andBeyondThoseThatWaitRefused() throws IOException {
        HttpServer server = server();
        for (int i = 0; i < AT_ONCE + WAITING; i++) {
            ask(server, "/missing" + i);
        }
        ask(server, "/a0");
        runUntil("one is refused", () -> !answers.isEmpty());
        assertThat(answers)
                .as("all others run or wait")
                .hasSize(1)
                .allMatch(FileLooksTest::isRefusal);
        assertThat(disk).as("looks that were begun at once").hasSize(AT_ONCE);
        while (!disk.isEmpty()) {
            disk.remove().run();
            assertThat(disk.size()).as("looks under way").isLessThanOrEqualTo(AT_ONCE);
        }
        runUntil("all are answered", () -> answers.size() == AT_ONCE + WAITING + 1);
        assertThat(answers.stream().filter(answer -> answer.startsWith("HTTP/1.1 404 ")))
                .as("those that waited had their look")
                .hasSize(AT_ONCE + WAITING);
        ask(server, "/a1");
        runUntil("there is a place again", () -> !disk.isEmpty());
        disk.remove().run();
        runUntil("answered", () -> answers.getLast().endsWith("content 1"));
    }

    @Test
    @Clause("H-3")
    void requests_ofOneFile_takeOnePlace() throws IOException {
        HttpServer server = server();
        for (int i = 0; i < 2 * AT_ONCE; i++) {
            ask(server, "/a2");
        }
        runUntil("all are connected", () -> server.connections() == 2 * AT_ONCE);
        loop.runFor(Duration.ofMillis(20));
        assertThat(disk).as("looks for one and the same file").hasSize(1);
        disk.remove().run();
        runUntil("all are answered", () -> answers.size() == 2 * AT_ONCE);
        assertThat(answers).allMatch(answer -> answer.endsWith("content 2"));
    }

    @Test
    @Clause("H-3")
    void knownFile_whenNoMoreLooksAreAllowed_isAnsweredAsItIsKnown() throws IOException {
        HttpServer server = server(FilesConfig.DEFAULT.withRevalidateAfter(Duration.ZERO));
        ask(server, "/a3");
        runUntil("the first look", () -> !disk.isEmpty());
        disk.remove().run();
        runUntil("known", () -> answers.size() == 1);
        for (int i = 0; i < AT_ONCE + WAITING; i++) {
            ask(server, "/missing" + i);
        }
        runUntil("all places are taken", () -> server.connections() >= AT_ONCE + WAITING);
        loop.runFor(Duration.ofMillis(20));
        ask(server, "/a3");
        runUntil("answered", () -> answers.size() == 2);
        assertThat(answers.getLast()).startsWith("HTTP/1.1 200 ").endsWith("content 3");
    }

    @Test
    @Clause("H-4")
    void smallFile_thatIsChanged_isTheOldOneForATenthOfASecondAtMost() throws IOException {
        try (var world = SimulatedWorld.seed(1, LoopConfig.DEFAULT.withExecutor(Runnable::run))) {
            Path file = Files.writeString(directory.resolve("page"), "old");
            HttpServer server = HttpServer.on(world.loop()).files("/", directory).listen(80);
            assertThat(server.connections()).isZero();
            var first = world.connect(80).send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofMillis(10));
            assertThat(first.receivedText()).endsWith("old");

            Files.writeString(file, "new");
            var second = world.connect(80).send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofMillis(10));
            assertThat(second.receivedText()).as("from memory").endsWith("old");

            world.advance(Duration.ofMillis(100));
            var third = world.connect(80).send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofMillis(10));
            assertThat(third.receivedText()).endsWith("new");
        }
    }
}
