package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
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

    private ServedSite site() {
        return site(FilesConfig.DEFAULT);
    }

    private ServedSite site(FilesConfig config) {
        return new ServedSite(server -> server.files("/s", directory, config));
    }

    @Clause("H-4")
    @Test
    void get_ofASmallFile_hasItsContentTypeAndTags() throws Exception {
        try (ServedSite site = site()) {
            var answer = site.get("/s/hello.txt");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo("Hello, file!");
            assertThat(answer.field("Content-Type")).isEqualTo("text/plain; charset=utf-8");
            assertThat(answer.field("ETag")).matches("\"[0-9a-f-]+\"");
            assertThat(answer.field("Last-Modified")).endsWith(" GMT");
            assertThat(answer.field("Accept-Ranges")).isEqualTo("bytes");
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
            var answer = site.get("/s/empty.bin");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.field("Content-Length")).isEqualTo("0");
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
        try (ServedSite site = site(FilesConfig.DEFAULT.withFresh(Duration.ZERO))) {
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
        try (ServedSite site = site(FilesConfig.DEFAULT.withFresh(Duration.ofHours(1)))) {
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
    void get_ofAFileThatShrank_isCutAndNotPadded() throws Exception {
        FilesConfig config = FilesConfig.DEFAULT.withFresh(Duration.ofHours(1));
        try (ServedSite site = site(config)) {
            assertThat(site.get("/s/big.bin").content()).isEqualTo(BIG);
            try (var file =
                    Files.newByteChannel(directory.resolve("big.bin"), StandardOpenOption.WRITE)) {
                file.truncate(1_000);
            }
            try (Socket socket = site.connect()) {
                socket.getOutputStream()
                        .write("GET /s/big.bin HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
                byte[] all;
                try {
                    all = socket.getInputStream().readAllBytes();
                } catch (SocketException reset) {
                    all = new byte[0];
                }
                assertThat(all.length)
                        .as("a cut, and no other bytes in place of the file's")
                        .isLessThan(2_000);
            }
            assertThat(site.get("/s/hello.txt").status()).isEqualTo(200);
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
                                                                .file(file))
                                        .get(
                                                "/none",
                                                (_, response) ->
                                                        response.file(directory.resolve("none")))
                                        .get("/dir", (_, response) -> response.file(directory))
                                        .get(
                                                "/gone",
                                                (_, response) -> response.status(410).file(file))
                                        .blocking("GET", "/b", (_, response) -> response.file(file))
                                        .blocking(
                                                "GET",
                                                "/bb",
                                                (_, response) ->
                                                        response.file(directory.resolve("big.bin")))
                                        .blocking(
                                                "GET",
                                                "/bnone",
                                                (_, response) ->
                                                        response.file(
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

    /// How many of ours are below the directory.
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
        try (ServedSite site = site(FilesConfig.DEFAULT.withFresh(Duration.ZERO))) {
            for (int i = 0; i < 20; i++) {
                assertThat(site.get("/s/big.bin").content()).isEqualTo(BIG);
            }
            assertThat(descriptors()).isEqualTo(1);
        }
    }
}
