package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class RangesAndConditionsTest {
    private static final String SMALL = "0123456789abcdefghij";
    private static final byte[] BIG = new byte[100_000];
    private static final String MODIFIED = "Fri, 02 Jan 2026 03:04:05 GMT";

    static {
        new Random(11).nextBytes(BIG);
    }

    @TempDir Path directory;
    private ServedSite site;
    private String etag;

    @BeforeEach
    void serve() throws IOException {
        Files.writeString(directory.resolve("small.bin"), SMALL);
        Files.write(directory.resolve("big.bin"), BIG);
        Files.writeString(directory.resolve("empty.bin"), "");
        for (String name : List.of("small.bin", "big.bin", "empty.bin")) {
            Files.setLastModifiedTime(
                    directory.resolve(name),
                    FileTime.from(Instant.parse("2026-01-02T03:04:05.678Z")));
        }
        site = new ServedSite(server -> server.files("/", directory));
        etag = site.get("/small.bin").field("ETag");
    }

    @AfterEach
    void end() {
        site.close();
    }

    // ------------------------------------------------------------------ one range

    private record Range(String asked, int status, String said, String content) {}

    @Clause("H-4")
    @Test
    void get_ofARange_isThatPart() throws Exception {
        List<Range> table =
                List.of(
                        new Range("bytes=0-0", 206, "bytes 0-0/20", "0"),
                        new Range("bytes=0-4", 206, "bytes 0-4/20", "01234"),
                        new Range("bytes=5-9", 206, "bytes 5-9/20", "56789"),
                        new Range("bytes=10-", 206, "bytes 10-19/20", "abcdefghij"),
                        new Range("bytes=0-", 206, "bytes 0-19/20", SMALL),
                        new Range("bytes=19-", 206, "bytes 19-19/20", "j"),
                        new Range("bytes=-1", 206, "bytes 19-19/20", "j"),
                        new Range("bytes=-5", 206, "bytes 15-19/20", "fghij"),
                        new Range("bytes=-20", 206, "bytes 0-19/20", SMALL),
                        new Range("bytes=-99", 206, "bytes 0-19/20", SMALL),
                        new Range("bytes=15-99", 206, "bytes 15-19/20", "fghij"),
                        new Range("bytes=15-99999999999999999999", 206, "bytes 15-19/20", "fghij"),
                        new Range("Bytes=0-1", 206, "bytes 0-1/20", "01"),
                        new Range("bytes= 0-1 ", 206, "bytes 0-1/20", "01"),
                        new Range("bytes=0-1,30-40", 206, "bytes 0-1/20", "01"),
                        new Range("bytes=20-", 416, "bytes */20", null),
                        new Range("bytes=20-30", 416, "bytes */20", null),
                        new Range("bytes=99999999999999999999-", 416, "bytes */20", null),
                        new Range("bytes=-0", 416, "bytes */20", null),
                        new Range("bytes=30-40,50-60", 416, "bytes */20", null),
                        new Range("bytes=5-4", 200, "", SMALL),
                        new Range("bytes=", 200, "", SMALL),
                        new Range("bytes=-", 200, "", SMALL),
                        new Range("bytes=a-b", 200, "", SMALL),
                        new Range("bytes=1", 200, "", SMALL),
                        new Range("bytes=--1", 200, "", SMALL),
                        new Range("bytes=+1-2", 200, "", SMALL),
                        new Range("bytes=1-2,", 200, "", SMALL),
                        new Range("bytes=1-2;3-4", 200, "", SMALL),
                        new Range("lines=1-2", 200, "", SMALL),
                        new Range("1-2", 200, "", SMALL),
                        new Range("bytes=0-5,3-9", 200, "", SMALL),
                        new Range("bytes=0-,0-", 200, "", SMALL));
        for (Range range : table) {
            var answer = site.get("/small.bin", "Range: " + range.asked);
            assertThat(answer.status()).as("the status of %s", range).isEqualTo(range.status);
            assertThat(answer.field("Content-Range")).as("%s", range).isEqualTo(range.said);
            if (range.content != null) {
                assertThat(answer.text()).as("%s", range).isEqualTo(range.content);
            }
        }
    }

    @Clause("H-4")
    @Test
    void get_ofARangeOfABigFile_isThatPart() throws Exception {
        var answer = site.get("/big.bin", "Range: bytes=50000-99999");
        assertThat(answer.status()).isEqualTo(206);
        assertThat(answer.content()).isEqualTo(Arrays.copyOfRange(BIG, 50_000, 100_000));
        assertThat(answer.field("Content-Range")).isEqualTo("bytes 50000-99999/100000");
    }

    @Clause("H-4")
    @Test
    void get_ofARangeOfNothing_isNowhereOrAllOfIt() throws Exception {
        assertThat(site.get("/empty.bin", "Range: bytes=0-").status()).isEqualTo(416);
        assertThat(site.get("/empty.bin", "Range: bytes=-5").status()).isEqualTo(200);
    }

    @Clause("H-4")
    @Test
    void head_withARange_ignoresIt() throws Exception {
        var answer = site.ask("HEAD", "/small.bin", "Range: bytes=0-1");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("Content-Length")).isEqualTo("20");
    }

    // ------------------------------------------------------------------ several ranges

    @Clause("H-4")
    @Test
    void get_ofSeveralRanges_isAllOfThemInTheirOrder() throws Exception {
        var answer = site.get("/small.bin", "Range: bytes=10-12,0-1,-2");
        assertThat(answer.status()).isEqualTo(206);
        assertThat(parts(answer, SMALL.length())).containsExactly("abc", "01", "ij");
    }

    @Clause("H-4")
    @Test
    void get_ofSeveralRangesOfABigFile_isAllOfThem() throws Exception {
        try (var socket = site.connect()) {
            var answer =
                    site.ask(
                            socket,
                            "GET",
                            "/big.bin",
                            "Range: bytes=90000-99999,0-29999,40000-40000");
            assertThat(answer.status()).isEqualTo(206);
            String all = new String(BIG, ISO_8859_1);
            assertThat(parts(answer, BIG.length))
                    .containsExactly(
                            all.substring(90_000),
                            all.substring(0, 30_000),
                            all.substring(40_000, 40_001));
            assertThat(site.ask(socket, "GET", "/small.bin").text())
                    .as("the length that was said is that of the content")
                    .isEqualTo(SMALL);
        }
    }

    @Clause("H-4")
    @Test
    void get_ofTooManyRanges_isAllOfIt() throws Exception {
        String sixteen = ranges(16);
        String seventeen = ranges(17);
        assertThat(site.get("/big.bin", "Range: bytes=" + sixteen).status()).isEqualTo(206);
        assertThat(site.get("/big.bin", "Range: bytes=" + seventeen).status()).isEqualTo(200);
    }

    private static String ranges(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> i * 10 + "-" + (i * 10 + 3))
                .collect(Collectors.joining(","));
    }

    /// Parses the body strictly.
    private static List<String> parts(ServedSite.Answer answer, int size) {
        String type = answer.field("Content-Type");
        assertThat(type).startsWith("multipart/byteranges; boundary=");
        String boundary = type.substring(type.indexOf('=') + 1);
        String rest = answer.text();
        List<String> parts = new ArrayList<>();
        while (!rest.equals("\r\n--" + boundary + "--\r\n")) {
            String begin = (parts.isEmpty() ? "--" : "\r\n--") + boundary + "\r\n";
            assertThat(rest)
                    .startsWith(
                            begin
                                    + "Content-Type: application/octet-stream\r\n"
                                    + "Content-Range: bytes ");
            int end = rest.indexOf("\r\n\r\n");
            String[] range = rest.substring(rest.indexOf("bytes ") + 6, end).split("[-/]", -1);
            assertThat(range[2]).isEqualTo(String.valueOf(size));
            int length = Integer.parseInt(range[1]) - Integer.parseInt(range[0]) + 1;
            parts.add(rest.substring(end + 4, end + 4 + length));
            rest = rest.substring(end + 4 + length);
        }
        return parts;
    }

    // ------------------------------------------------------------------ conditions

    @Clause("H-4")
    @Test
    void get_withConditions_isAnsweredAsTheySay() throws Exception {
        String earlier = "Fri, 02 Jan 2026 03:04:04 GMT";
        String later = "Fri, 02 Jan 2026 03:04:06 GMT";
        expect(304, "If-None-Match: " + etag);
        expect(304, "If-None-Match: W/" + etag);
        expect(304, "If-None-Match: \"a,b\", \"c\" ," + etag);
        expect(304, "If-None-Match: \"x\"", "If-None-Match: " + etag);
        expect(304, "If-None-Match: *");
        expect(200, "If-None-Match: \"other\"");
        expect(200, "If-None-Match: " + etag.replace("\"", ""));
        expect(304, "If-Modified-Since: " + MODIFIED);
        expect(304, "If-Modified-Since: " + later);
        expect(304, "If-Modified-Since: Friday, 02-Jan-26 03:04:05 GMT");
        expect(304, "If-Modified-Since: Fri Jan  2 03:04:05 2026");
        expect(200, "If-Modified-Since: " + earlier);
        expect(200, "If-Modified-Since: yesterday");
        expect(200, "If-Modified-Since: 2026-01-02T03:04:05Z");
        expect(200, "If-None-Match: \"other\"", "If-Modified-Since: " + later);
        expect(304, "If-None-Match: " + etag, "If-Modified-Since: " + earlier);
        expect(200, "If-Match: " + etag);
        expect(200, "If-Match: *");
        expect(200, "If-Match: \"x\", " + etag);
        expect(412, "If-Match: \"other\"");
        expect(412, "If-Match: W/" + etag);
        expect(200, "If-Unmodified-Since: " + MODIFIED);
        expect(200, "If-Unmodified-Since: " + later);
        expect(412, "If-Unmodified-Since: " + earlier);
        expect(200, "If-Unmodified-Since: never");
        expect(200, "If-Match: " + etag, "If-Unmodified-Since: " + earlier);
        expect(412, "If-Match: \"other\"", "If-None-Match: " + etag);
        expect(304, "If-Match: " + etag, "If-None-Match: " + etag);
        expect(304, "If-None-Match: " + etag, "Range: bytes=0-1");
        expect(206, "If-Range: " + etag, "Range: bytes=0-1");
        expect(206, "If-Range: " + MODIFIED, "Range: bytes=0-1");
        expect(200, "If-Range: W/" + etag, "Range: bytes=0-1");
        expect(200, "If-Range: \"other\"", "Range: bytes=0-1");
        expect(200, "If-Range: " + earlier, "Range: bytes=0-1");
        expect(200, "If-Range: " + later, "Range: bytes=0-1");
        expect(200, "If-Range: \"other\"", "Range: bytes=50-60");
        expect(200, "If-Range: " + etag);
        expect(412, "If-Match: \"other\"", "Range: bytes=0-1");
    }

    private void expect(int status, String... fields) throws IOException {
        var answer = site.get("/small.bin", fields);
        assertThat(answer.status()).as("GET with %s", List.of(fields)).isEqualTo(status);
        if (status == 304) {
            assertThat(answer.field("ETag")).isEqualTo(etag);
            assertThat(answer.has("Content-Length")).isFalse();
        }
        if (status == 200) {
            assertThat(answer.text()).isEqualTo(SMALL);
            assertThat(answer.field("Last-Modified")).isEqualTo(MODIFIED);
        }
    }
}
