package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;

class FileServingTest {
    private static final byte[] BIG = new byte[200_000];

    static {
        new Random(7).nextBytes(BIG);
    }

    @TempDir Path directory;

    @BeforeEach
    void fill() throws IOException {
        put("hello.txt", "Hello, file!");
        put("empty.bin", "");
        put("page.html", "<p>page</p>");
        Files.createDirectories(directory.resolve("sub/deep"));
        put("sub/index.html", "<p>index</p>");
        put("sub/deep/näme & co.txt", "named");
        Files.write(directory.resolve("big.bin"), BIG);
    }

    private void put(String name, String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
    }

    /// Sets the time of a file back, so that it counts as settled.
    private Path settled(String name) throws IOException {
        FileTime before = FileTime.from(Instant.now().minusSeconds(100));
        return Files.setLastModifiedTime(directory.resolve(name), before);
    }

    private ServedSite site() {
        return site(FilesConfig.DEFAULT);
    }

    private ServedSite site(FilesConfig config) {
        return new ServedSite(server -> server.files("/s", directory, config));
    }

    @Clause("H-4")
    @Test
    void get_ofASmallFile_hasItsContentTypeAndTags() throws Exception {
        settled("hello.txt");
        try (ServedSite site = site()) {
            var answer = site.get("/s/hello.txt");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo("Hello, file!");
            assertThat(answer.field("Content-Type")).isEqualTo("text/plain; charset=utf-8");
            assertThat(answer.field("ETag")).matches("\"[0-9a-f-]+\"");
            assertThat(answer.field("Last-Modified")).endsWith(" GMT");
            assertThat(answer.field("Accept-Ranges")).isEqualTo("bytes");
            assertThat(answer.field("X-Content-Type-Options")).isEqualTo("nosniff");
        }
    }

    @Clause("H-4")
    @Test
    void get_ofABigFile_isTheSameEachTime() throws Exception {
        try (ServedSite site = site();
                Socket socket = site.connect()) {
            for (int i = 0; i < 5; i++) {
                assertThat(site.ask(socket, "GET", "/s/big.bin").content()).isEqualTo(BIG);
            }
        }
    }

    @Clause("H-4")
    @Test
    void get_ofSeveralSentAhead_areAnsweredInOrder() throws Exception {
        try (ServedSite site = site();
                Socket socket = site.connect()) {
            String one = "GET /s/big.bin HTTP/1.1\r\nHost: a\r\n\r\n";
            String two = "GET /s/hello.txt HTTP/1.1\r\nHost: a\r\n\r\n";
            socket.getOutputStream().write((one + two + one + two).getBytes(UTF_8));
            InputStream in = socket.getInputStream();
            assertThat(ServedSite.Answer.read(in, false).content()).isEqualTo(BIG);
            assertThat(ServedSite.Answer.read(in, false).text()).isEqualTo("Hello, file!");
            assertThat(ServedSite.Answer.read(in, false).content()).isEqualTo(BIG);
            assertThat(ServedSite.Answer.read(in, false).text()).isEqualTo("Hello, file!");
        }
    }

    @Clause("H-4")
    @Test
    void head_saysTheLengthAndSendsNothing() throws Exception {
        try (ServedSite site = site();
                Socket socket = site.connect()) {
            for (String name : new String[] {"hello.txt", "big.bin"}) {
                var answer = site.ask(socket, "HEAD", "/s/" + name);
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.field("Content-Length"))
                        .isEqualTo(String.valueOf(Files.size(directory.resolve(name))));
            }
            // On the same connection: had content been sent, this would begin with it.
            assertThat(site.ask(socket, "GET", "/s/hello.txt").text()).isEqualTo("Hello, file!");
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAnEmptyFile_hasNoContent() throws Exception {
        try (ServedSite site = site()) {
            put("empty.css", "");
            var answer = site.get("/s/empty.css");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.field("Content-Length")).isEqualTo("0");
            assertThat(answer.field("Content-Type")).startsWith("text/css");
            assertThat(answer.field("X-Content-Type-Options")).isEqualTo("nosniff");
        }
    }

    @Clause("H-4")
    @Test
    void post_toAFile_isNotAllowed() throws Exception {
        try (ServedSite site = site()) {
            var answer = site.ask("POST", "/s/hello.txt", "Content-Length: 0");
            assertThat(answer.status()).isEqualTo(405);
            assertThat(answer.field("Allow")).isEqualTo("GET, HEAD, OPTIONS");
        }
    }

    @Clause("H-4")
    @Test
    void get_ofADirectoryWithoutSlash_leadsToItWithTheQuery() throws Exception {
        try (ServedSite site = site()) {
            var answer = site.get("/s/sub?a=b%20c");
            assertThat(answer.status()).isEqualTo(301);
            assertThat(answer.field("Location")).isEqualTo("/s/sub/?a=b%20c");
            assertThat(site.get("/s").field("Location")).isEqualTo("/s/");
            assertThat(site.get("/s/sub/").text()).isEqualTo("<p>index</p>");
        }
    }

    @Clause("H-4")
    @Test
    void get_atTheRoot_servesEverythingBelow() throws Exception {
        try (ServedSite site = new ServedSite(server -> server.files("/", directory))) {
            assertThat(site.get("/hello.txt").text()).isEqualTo("Hello, file!");
            assertThat(site.get("/sub/").text()).isEqualTo("<p>index</p>");
            assertThat(site.get("/").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAnEncodedName_decodesItOnce() throws Exception {
        try (ServedSite site = site()) {
            assertThat(site.get("/s/sub/deep/n%C3%A4me%20%26%20co.txt").text()).isEqualTo("named");
            assertThat(site.get("/%73/h%65llo.txt").text()).isEqualTo("Hello, file!");
            assertThat(site.get("/s/h%2565llo.txt").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAFileWithASlashBehind_isNothing() throws Exception {
        try (ServedSite site = site()) {
            assertThat(site.get("/s/hello.txt/").status()).isEqualTo(404);
            assertThat(site.get("/s/hello.txt/x").status()).isEqualTo(404);
            assertThat(site.get("/s/missing").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void get_afterAChange_isTheNewContent() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT.withRevalidateAfter(Duration.ZERO))) {
            var before = site.get("/s/hello.txt");
            put("hello.txt", "Hello, other!");
            var after = site.get("/s/hello.txt");
            assertThat(after.text()).isEqualTo("Hello, other!");
            assertThat(after.field("ETag")).isNotEqualTo(before.field("ETag"));
            // Same length and written in place, within one tick of the clock for all we know.
            put("hello.txt", "Hello, again!");
            assertThat(site.get("/s/hello.txt").text()).isEqualTo("Hello, again!");
            Files.delete(directory.resolve("hello.txt"));
            assertThat(site.get("/s/hello.txt").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void get_whileFresh_asksTheSystemForNothing() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT.withRevalidateAfter(Duration.ofHours(1)))) {
            var before = site.get("/s/hello.txt");
            Files.delete(directory.resolve("hello.txt"));
            var after = site.get("/s/hello.txt");
            assertThat(after.text())
                    .as("what is fresh is answered from memory")
                    .isEqualTo(before.text());
        }
    }

    @Clause("H-4")
    @Test
    void cacheControl_ofTheConfig_isSaid() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT.withCacheControl("max-age=60"))) {
            assertThat(site.get("/s/hello.txt").field("Cache-Control")).isEqualTo("max-age=60");
        }
    }

    @Clause("H-4")
    @Test
    void files_ofWhatIsNoDirectory_isRefusedAtOnce() {
        try (EventLoop loop = EventLoop.open()) {
            HttpServer server = HttpServer.on(loop);
            assertThatThrownBy(() -> server.files("/a", directory.resolve("none")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("none");
            assertThatThrownBy(() -> server.files("/b", directory.resolve("hello.txt")))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> server.files("x", directory))
                    .isInstanceOf(IllegalArgumentException.class);
            FilesConfig split = FilesConfig.DEFAULT.withCacheControl("a\r\nb: c");
            assertThatThrownBy(() -> server.files("/c", directory, split))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAFileThatShrinksMeanwhile_isCutAndNotPadded() throws Exception {
        Path file = directory.resolve("huge.bin");
        Files.write(file, new byte[32 << 20]);
        try (ServedSite site = site();
                Socket socket = site.connect()) {
            socket.getOutputStream()
                    .write("GET /s/huge.bin HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
            InputStream in = socket.getInputStream();
            assertThat(in.read()).as("it has begun").isEqualTo('H');
            try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
                channel.truncate(1_000);
            }
            long all = 0;
            try {
                all = in.transferTo(OutputStream.nullOutputStream());
            } catch (SocketException reset) {
                // That shows it as well.
            }
            assertThat(all)
                    .as("a cut, and no other bytes in place of the file's")
                    .isLessThan(32 << 20);
            assertThat(site.get("/s/hello.txt").status()).isEqualTo(200);
        }
    }

    // ------------------------------------------------------------------ changes while it is known

    /// Writes in place and keeps the times, like editors and `rsync --inplace`.
    private void rewrite(String name, byte[] content) throws IOException {
        Path file = directory.resolve(name);
        FileTime before = Files.getLastModifiedTime(file);
        Files.write(file, content, StandardOpenOption.TRUNCATE_EXISTING);
        Files.setLastModifiedTime(file, before);
    }

    @Clause("H-4")
    @Test
    void get_ofAFileRewrittenInPlaceWhileItIsFresh_isOfOnePiece() throws Exception {
        settled("big.bin");
        FilesConfig config = FilesConfig.DEFAULT.withRevalidateAfter(Duration.ofHours(1));
        try (ServedSite site = site(config)) {
            var before = site.get("/s/big.bin");
            byte[] longer = new byte[BIG.length + 50_000];
            rewrite("big.bin", longer);
            String etag = before.field("ETag");
            var resumed = site.get("/s/big.bin", "Range: bytes=100000-", "If-Range: " + etag);
            assertThat(resumed.status()).as("what the peer has is of another file").isEqualTo(200);
            assertThat(resumed.content()).isEqualTo(longer);
            assertThat(resumed.field("ETag")).isNotEqualTo(etag);
            byte[] shorter = new byte[50_000];
            rewrite("big.bin", shorter);
            assertThat(site.get("/s/big.bin").content()).isEqualTo(shorter);
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAFileOfTheSameSizeAndTime_hasAnotherTag() throws Exception {
        settled("hello.txt");
        try (ServedSite site = site(FilesConfig.DEFAULT.withRevalidateAfter(Duration.ZERO))) {
            String before = site.get("/s/hello.txt").field("ETag");
            // The clock of the system that times changes may tick as slowly as every ten
            // milliseconds.
            Object changed = Files.getAttribute(directory.resolve("hello.txt"), "unix:ctime");
            do {
                rewrite("hello.txt", "Hello, fire!".getBytes(UTF_8));
            } while (Files.getAttribute(directory.resolve("hello.txt"), "unix:ctime")
                    .equals(changed));
            var after = site.get("/s/hello.txt", "If-None-Match: " + before);
            assertThat(after.status()).isEqualTo(200);
            assertThat(after.text()).isEqualTo("Hello, fire!");
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAFileWithLessContentThanItsSize_isThatContent() throws Exception {
        Path kernel = Path.of("/sys/kernel");
        Assumptions.assumeTrue(Files.isReadable(kernel.resolve("uevent_seqnum")));
        try (ServedSite site = new ServedSite(server -> server.files("/k", kernel))) {
            var answer = site.get("/k/uevent_seqnum");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).matches("[0-9]+\n");
            assertThat(answer.has("ETag")).as("it may change and look the same").isFalse();
            assertThat(answer.has("Last-Modified")).isFalse();
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAWellKnownPlace_isServedThoughNamesWithDotsAreNot() throws Exception {
        Files.createDirectories(directory.resolve(".well-known/.git"));
        put(".well-known/security.txt", "Contact: us");
        put(".well-known/.git/config", "secret");
        put(".hidden", "secret");
        try (ServedSite site =
                new ServedSite(
                        server ->
                                server.files(
                                        "/", directory, FilesConfig.DEFAULT.withListing(true)))) {
            assertThat(site.get("/.well-known/security.txt").text()).isEqualTo("Contact: us");
            assertThat(site.get("/.well-known/.git/config").status()).isEqualTo(404);
            assertThat(site.get("/.hidden").status()).isEqualTo(404);
            assertThat(site.get("/sub/.well-known/").status()).isEqualTo(404);
            assertThat(site.get("/").text()).contains(".well-known/").doesNotContain(".hidden");
        }
    }

    @Clause("H-4")
    @Test
    void get_of64MiBByASlowReader_isWholeAndHoldsNoMemory() throws Exception {
        Path file = directory.resolve("huge.bin");
        byte[] block = new byte[1 << 20];
        try (var out = Files.newOutputStream(file)) {
            for (int i = 0; i < 64; i++) {
                Arrays.fill(block, (byte) i);
                out.write(block);
            }
        }
        try (ServedSite site = site();
                Socket socket = site.connect()) {
            socket.getOutputStream()
                    .write("GET /s/huge.bin HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
            InputStream in = socket.getInputStream();
            // While this one does not read, others are answered: the loop waits for nobody.
            for (int i = 0; i < 20; i++) {
                assertThat(site.get("/s/hello.txt").status()).isEqualTo(200);
            }
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) in.read());
            }
            assertThat(head.toString()).contains("Content-Length: " + (64 << 20));
            for (int i = 0; i < 64; i++) {
                byte[] read = in.readNBytes(block.length);
                Arrays.fill(block, (byte) i);
                assertThat(Arrays.equals(read, block))
                        .as("MiB %d is as it was written", i)
                        .isTrue();
            }
        }
    }

    @Clause("H-4")
    @Test
    void file_ofAHandler_isServedWithItsOwnFields() throws Exception {
        Path file = directory.resolve("hello.txt");
        try (ServedSite site =
                new ServedSite(
                        server ->
                                server.get(
                                                "/f",
                                                (_, response) ->
                                                        response.type("text/x")
                                                                .header("X", "y")
                                                                .sendFile(file))
                                        .get(
                                                "/none",
                                                (_, response) ->
                                                        response.sendFile(
                                                                directory.resolve("none")))
                                        .get("/dir", (_, response) -> response.sendFile(directory))
                                        .get(
                                                "/gone",
                                                (_, response) ->
                                                        response.status(410).sendFile(file))
                                        .blocking(
                                                "GET",
                                                "/b",
                                                (_, response) -> response.sendFile(file))
                                        .blocking(
                                                "GET",
                                                "/bb",
                                                (_, response) ->
                                                        response.sendFile(
                                                                directory.resolve("big.bin")))
                                        .blocking(
                                                "GET",
                                                "/bnone",
                                                (_, response) ->
                                                        response.sendFile(
                                                                directory.resolve("none"))))) {
            var answer = site.get("/f");
            assertThat(answer.text()).isEqualTo("Hello, file!");
            assertThat(answer.field("Content-Type")).isEqualTo("text/x");
            assertThat(answer.field("X")).isEqualTo("y");
            assertThat(answer.has("ETag")).isTrue();
            assertThat(site.get("/none").status()).isEqualTo(404);
            assertThat(site.get("/dir").status()).isEqualTo(404);
            var gone = site.get("/gone", "Range: bytes=0-1");
            assertThat(gone.status()).isEqualTo(410);
            assertThat(gone.text()).isEqualTo("Hello, file!");
            assertThat(site.get("/b").text()).isEqualTo("Hello, file!");
            assertThat(site.get("/bb").content()).isEqualTo(BIG);
            assertThat(site.get("/bnone").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void descriptors_afterManyFilesAndTheEnd_areAsManyAsBefore() throws Exception {
        for (int i = 0; i < 300; i++) {
            Files.write(directory.resolve("f" + i), BIG);
        }
        try (ServedSite site = site();
                Socket socket = site.connect()) {
            site.ask(socket, "GET", "/s/big.bin");
            long few = descriptors();
            for (int i = 0; i < 300; i++) {
                assertThat(site.ask(socket, "GET", "/s/f" + i).content().length)
                        .isEqualTo(BIG.length);
            }
            assertThat(descriptors() - few)
                    .as("no more than 256 files are kept open")
                    .isBetween(200L, 256L);
            site.onLoop(
                    () -> {
                        site.server.close();
                        return 0;
                    });
            assertThat(descriptors()).as("all files are closed with the server").isLessThan(few);
        }
    }

    /// Returns how many of our descriptors are below the directory.
    private long descriptors() throws IOException {
        try (var all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(
                            fd -> {
                                try {
                                    return Files.readSymbolicLink(fd)
                                            .startsWith(directory.toRealPath());
                                } catch (IOException e) {
                                    return false;
                                }
                            })
                    .count();
        }
    }

    @Clause("H-4")
    @Test
    void get_ofASettledFileThatIsTheSame_keepsItsDescriptor() throws Exception {
        Files.setLastModifiedTime(
                directory.resolve("big.bin"), FileTime.from(Instant.now().minusSeconds(60)));
        try (ServedSite site = site(FilesConfig.DEFAULT.withRevalidateAfter(Duration.ZERO))) {
            for (int i = 0; i < 20; i++) {
                assertThat(site.get("/s/big.bin").content()).isEqualTo(BIG);
            }
            assertThat(descriptors()).isEqualTo(1);
        }
    }
}
