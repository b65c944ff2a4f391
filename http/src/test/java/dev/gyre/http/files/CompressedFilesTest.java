package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

class CompressedFilesTest {
    private static final String TEXT = "some text that is said again and again\n".repeat(100);
    private static final String LONG = "some text that is said again and again\n".repeat(10_000);

    @TempDir Path directory;

    @BeforeEach
    void fill() throws IOException {
        put("a.txt", TEXT.getBytes(UTF_8));
        put("long.txt", LONG.getBytes(UTF_8));
        put("tiny.txt", "tiny".getBytes(UTF_8));
        put("a.png", TEXT.getBytes(UTF_8));
        byte[] noise = new byte[4_000];
        new Random(3).nextBytes(noise);
        put("noise.txt", noise);
    }

    private void put(String name, byte[] content) throws IOException {
        Path file = Files.write(directory.resolve(name), content);
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(100)));
    }

    private ServedSite site() {
        return new ServedSite(server -> server.files("/", directory));
    }

    private static byte[] unzip(byte[] content) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(content))) {
            return in.readAllBytes();
        }
    }

    private static byte[] zip(String content) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(out)) {
            gzip.write(content.getBytes(UTF_8));
        }
        return out.toByteArray();
    }

    @Clause("H-4")
    @Test
    void get_byAPeerThatTakesGzip_isCompressed() throws Exception {
        try (ServedSite site = site()) {
            var plain = site.get("/a.txt");
            assertThat(plain.has("Content-Encoding")).isFalse();
            assertThat(plain.field("Vary")).isEqualTo("Accept-Encoding");
            for (String name : List.of("a.txt", "long.txt", "a.txt")) {
                var answer = site.get("/" + name, "Accept-Encoding: br, gzip");
                assertThat(answer.field("Content-Encoding")).isEqualTo("gzip");
                assertThat(answer.field("Vary")).isEqualTo("Accept-Encoding");
                assertThat(answer.field("Content-Type")).startsWith("text/plain");
                assertThat(new String(unzip(answer.content()), UTF_8))
                        .isEqualTo(name.equals("a.txt") ? TEXT : LONG);
                assertThat(answer.field("ETag")).isNotEqualTo(plain.field("ETag"));
                assertThat(answer.has("Accept-Ranges")).isFalse();
            }
            assertThat(site.get("/a.txt").text()).isEqualTo(TEXT);
        }
    }

    @Clause("H-4")
    @Test
    void get_byAPeerThatDoesNotWantGzip_isPlain() throws Exception {
        try (ServedSite site = site()) {
            for (String said :
                    List.of(
                            "br",
                            "gzip;q=0",
                            "gzip; q=0.000, *;q=1",
                            "identity, gzip;q=0.5",
                            "gzip;q=x",
                            "*;q=0",
                            "")) {
                var answer = site.get("/a.txt", "Accept-Encoding: " + said);
                assertThat(answer.has("Content-Encoding"))
                        .as("Accept-Encoding: %s", said)
                        .isFalse();
                assertThat(answer.text()).isEqualTo(TEXT);
            }
            for (String said :
                    List.of(
                            "*",
                            "GZIP",
                            "x-gzip",
                            "gzip;q=0.001",
                            "identity;q=0.5, gzip;q=0.5",
                            "*;q=0, gzip")) {
                assertThat(site.get("/a.txt", "Accept-Encoding: " + said).field("Content-Encoding"))
                        .as("Accept-Encoding: %s", said)
                        .isEqualTo("gzip");
            }
        }
    }

    @Clause("H-4")
    @Test
    void get_ofWhatIsNotWorthIt_isPlain() throws Exception {
        try (ServedSite site = site()) {
            for (String name : List.of("tiny.txt", "a.png", "noise.txt")) {
                var answer = site.get("/" + name, "Accept-Encoding: gzip");
                assertThat(answer.has("Content-Encoding")).as(name).isFalse();
                assertThat(answer.content()).isEqualTo(Files.readAllBytes(directory.resolve(name)));
            }
            assertThat(site.get("/a.png").has("Vary")).isFalse();
        }
    }

    @Clause("H-4")
    @Test
    void get_withoutCompression_isPlain() throws Exception {
        FilesConfig config = FilesConfig.DEFAULT.withCompression(false);
        try (ServedSite site = new ServedSite(server -> server.files("/", directory, config))) {
            var answer = site.get("/a.txt", "Accept-Encoding: gzip");
            assertThat(answer.has("Content-Encoding")).isFalse();
            assertThat(answer.has("Vary")).isFalse();
        }
    }

    @Clause("H-4")
    @Test
    void get_withACompressedFileBeside_isThat() throws Exception {
        byte[] beside = zip("from beside");
        Files.write(directory.resolve("a.txt.gz"), beside);
        try (ServedSite site = site()) {
            var answer = site.get("/a.txt", "Accept-Encoding: gzip");
            assertThat(answer.content()).isEqualTo(beside);
            assertThat(answer.field("Content-Encoding")).isEqualTo("gzip");
            assertThat(answer.field("Content-Type")).startsWith("text/plain");
            assertThat(site.get("/a.txt").text()).isEqualTo(TEXT);
        }
    }

    @Clause("H-4")
    @Test
    void get_withAnOlderCompressedFileBeside_isNotThat() throws Exception {
        Path beside = Files.write(directory.resolve("a.txt.gz"), zip("from beside"));
        Files.setLastModifiedTime(beside, FileTime.from(Instant.now().minusSeconds(1_000)));
        try (ServedSite site = site()) {
            assertThat(
                            new String(
                                    unzip(site.get("/a.txt", "Accept-Encoding: gzip").content()),
                                    UTF_8))
                    .isEqualTo(TEXT);
        }
    }

    @Clause("H-4")
    @Test
    void get_withALinkBeside_isNotThat() throws Exception {
        Path elsewhere = Files.createTempFile("gyre", ".gz");
        try {
            Files.write(elsewhere, zip("SECRET"));
            Files.createSymbolicLink(directory.resolve("a.txt.gz"), elsewhere);
            try (ServedSite site = site()) {
                assertThat(
                                new String(
                                        unzip(
                                                site.get("/a.txt", "Accept-Encoding: gzip")
                                                        .content()),
                                        UTF_8))
                        .isEqualTo(TEXT);
            }
        } finally {
            Files.delete(elsewhere);
        }
    }

    @Clause("H-4")
    @Test
    void get_afterACompressedFileHasCome_isThat() throws Exception {
        FilesConfig config = FilesConfig.DEFAULT.withRevalidateAfter(Duration.ZERO);
        try (ServedSite site = new ServedSite(server -> server.files("/", directory, config))) {
            assertThat(
                            new String(
                                    unzip(site.get("/a.txt", "Accept-Encoding: gzip").content()),
                                    UTF_8))
                    .isEqualTo(TEXT);
            Files.write(directory.resolve("a.txt.gz"), zip("from beside"));
            assertThat(
                            new String(
                                    unzip(site.get("/a.txt", "Accept-Encoding: gzip").content()),
                                    UTF_8))
                    .isEqualTo("from beside");
        }
    }

    @Clause("H-4")
    @Test
    void get_withTheTagOfTheCompressedForm_isNotModified() throws Exception {
        try (ServedSite site = site()) {
            String etag = site.get("/a.txt", "Accept-Encoding: gzip").field("ETag");
            var again = site.get("/a.txt", "Accept-Encoding: gzip", "If-None-Match: " + etag);
            assertThat(again.status()).isEqualTo(304);
            assertThat(again.field("Vary")).isEqualTo("Accept-Encoding");
            assertThat(site.get("/a.txt", "If-None-Match: " + etag).status()).isEqualTo(200);
        }
    }

    @Clause("H-4")
    @Test
    void head_ofWhatNobodyHasAskedForYet_saysWhatGetThenKeeps() throws Exception {
        for (String name : List.of("a.txt", "long.txt", "noise.txt", "tiny.txt", "a.png")) {
            try (ServedSite site = site()) {
                var told = site.ask("HEAD", "/" + name, "Accept-Encoding: gzip");
                var sent = site.get("/" + name, "Accept-Encoding: gzip");
                assertThat(told.status()).isEqualTo(200);
                assertThat(told.field("Content-Length"))
                        .as(name)
                        .isEqualTo("" + sent.content().length);
                for (String field : List.of("Content-Encoding", "ETag", "Vary", "Accept-Ranges")) {
                    assertThat(told.field(field))
                            .as("%s of %s", field, name)
                            .isEqualTo(sent.field(field));
                }
            }
        }
    }

    @Clause("H-4")
    @Test
    void get_ofARange_isOfThePlainForm() throws Exception {
        try (ServedSite site = site()) {
            var answer = site.get("/a.txt", "Accept-Encoding: gzip", "Range: bytes=5-8");
            assertThat(answer.status()).isEqualTo(206);
            assertThat(answer.text()).isEqualTo("text");
            assertThat(answer.has("Content-Encoding")).isFalse();
            assertThat(answer.field("Vary")).isEqualTo("Accept-Encoding");
            String plain = answer.field("ETag");
            String packed = site.get("/a.txt", "Accept-Encoding: gzip").field("ETag");
            for (String tag : List.of(plain, packed)) {
                var resumed =
                        site.get(
                                "/a.txt",
                                "Accept-Encoding: gzip",
                                "Range: bytes=5-8",
                                "If-Range: " + tag);
                assertThat(resumed.field("ETag")).as("never of two forms").isEqualTo(plain);
                assertThat(resumed.text()).isEqualTo(tag.equals(plain) ? "text" : TEXT);
            }
        }
    }

    @Test
    void get_ofAFileWithSomethingBeside_isNotReadAnewWhileBothStay() throws Exception {
        Path elsewhere = directory.resolve("other.bin");
        Files.write(elsewhere, zip("other"));
        put("b.png", LONG.getBytes(UTF_8));
        Files.write(directory.resolve("b.png.gz"), zip("never asked for"));
        Files.createSymbolicLink(directory.resolve("long.txt.gz"), elsewhere);
        FilesConfig config = FilesConfig.DEFAULT.withRevalidateAfter(Duration.ZERO);
        try (ServedSite site = new ServedSite(server -> server.files("/", directory, config))) {
            for (String name : List.of("b.png", "long.txt")) {
                site.get("/" + name);
                String before = openings(name);
                site.get("/" + name);
                assertThat(openings(name))
                        .as("%s has not changed: its descriptor stays", name)
                        .isNotEmpty()
                        .isEqualTo(before);
            }
        }
    }

    /// The descriptors of an open file. Its replacement is opened before it is closed, so the numbers
    /// differ.
    private String openings(String name) throws IOException {
        Path file = directory.toRealPath().resolve(name);
        StringBuilder found = new StringBuilder();
        try (var all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path fd : all.toList()) {
                if (Files.isSymbolicLink(fd) && Files.readSymbolicLink(fd).equals(file)) {
                    found.append(fd.getFileName()).append(' ');
                }
            }
        }
        return found.toString();
    }
}
