package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.http.HttpServer;
import dev.gyre.http.Response;
import dev.gyre.http.ServedSite;
import dev.gyre.http.ServedSite.Answer;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPInputStream;

/// Files sent by handlers: for any method, and with headers of their own.
class FilesOfHandlersTest {
    private static final String GZIP = "Accept-Encoding: gzip";
    private static final String SMALL = "some text that is said again and again\n".repeat(100);
    private static final String LONG = "some text that is said again and again\n".repeat(10_000);
    private static final String EARLIER = "Thu, 01 Jan 2026 00:00:00 GMT";
    private static final String DATE = "Fri, 02 Jan 2026 03:04:05 GMT";

    @TempDir Path directory;

    @BeforeEach
    void fill() throws IOException {
        put("small.txt", SMALL);
        put("long.txt", LONG);
    }

    private void put(String name, String content) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content);
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(100)));
    }

    /// Sends both files to `GET`, after the handler has set headers.
    private ServedSite site(UnaryOperator<Response> handler) {
        return new ServedSite(
                server ->
                        server.get(
                                "/{name}",
                                (request, response) ->
                                        handler.apply(response)
                                                .sendFile(
                                                        directory.resolve(
                                                                request.pathParam("name")))));
    }

    private static String unpacked(Answer answer) throws IOException {
        if (!answer.has("Content-Encoding")) {
            return answer.text();
        }
        try (var in = new GZIPInputStream(new ByteArrayInputStream(answer.content()))) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    // ------------------------------------------------------------------ methods

    private HttpServer forAllMethods(HttpServer server) {
        for (String name : List.of("small.txt", "long.txt")) {
            Path file = directory.resolve(name);
            server.post("/post/" + name, (_, response) -> response.sendFile(file))
                    .put("/put/" + name, (_, response) -> response.sendFile(file))
                    .any("/any/" + name, (_, response) -> response.sendFile(file));
        }
        return server.get("/after", (_, response) -> response.text("what follows"));
    }

    @Clause("H-4")
    @Test
    void file_forAnyMethod_isWhole_andTheNextAnswerFollows() throws Exception {
        for (String asked : List.of("POST /post/", "PUT /put/", "DELETE /any/", "POST /any/")) {
            for (String name : List.of("small.txt", "long.txt")) {
                // Nobody knows the file at first, and has compressed it; then both is done.
                try (ServedSite site = new ServedSite(this::forAllMethods)) {
                    answersWithTheFile(site, asked + name, "not known before");
                    assertThat(site.get("/any/" + name, GZIP).field("Content-Encoding"))
                            .isEqualTo("gzip");
                    answersWithTheFile(site, asked + name, "known");
                }
            }
        }
    }

    private void answersWithTheFile(ServedSite site, String asked, String when) throws IOException {
        try (Socket socket = site.connect()) {
            String both =
                    asked
                            + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n"
                            + GZIP
                            + "\r\n\r\nGET /after HTTP/1.1\r\nHost: a\r\n\r\n";
            socket.getOutputStream().write(both.getBytes(ISO_8859_1));
            Answer file = Answer.read(socket.getInputStream(), false);
            assertThat(file.status()).isEqualTo(200);
            assertThat(unpacked(file))
                    .as("%s, %s", asked, when)
                    .isEqualTo(asked.endsWith("small.txt") ? SMALL : LONG);
            assertThat(Answer.read(socket.getInputStream(), false).text())
                    .as("behind %s, %s", asked, when)
                    .isEqualTo("what follows");
        }
    }

    @Clause("H-4")
    @Test
    void file_withAStatusThatHasNoContent_isFollowedByTheNextAnswer() throws Exception {
        for (int status : List.of(204, 205)) {
            try (ServedSite site = site(response -> response.status(status));
                    Socket socket = site.connect()) {
                for (String name : List.of("/small.txt", "/long.txt", "/long.txt")) {
                    Answer answer = site.ask(socket, "GET", name, GZIP);
                    assertThat(answer.status()).isEqualTo(status);
                    assertThat(answer.content()).isEmpty();
                }
            }
        }
    }

    // ------------------------------------------------------------------ types

    @Clause("H-4")
    @Test
    void ranges_ofAFileWithATypeOfItsOwn_areMultipart_andTheTypeIsThatOfTheParts()
            throws Exception {
        try (ServedSite site = site(response -> response.type("text/csv; charset=\"ü\""))) {
            for (String name : List.of("/small.txt", "/long.txt")) {
                Answer answer = site.get(name, "Range: bytes=0-3,5-8");
                assertThat(answer.status()).isEqualTo(206);
                String type = answer.field("Content-Type");
                assertThat(type).startsWith("multipart/byteranges; boundary=");
                String line = "--" + type.substring(type.indexOf('=') + 1);
                String before =
                        "\r\nContent-Type: text/csv; charset=\"ü\"\r\nContent-Range: bytes ";
                String size = name.equals("/small.txt") ? "/3900" : "/390000";
                assertThat(new String(answer.content(), UTF_8))
                        .as("the parts of %s", name)
                        .isEqualTo(
                                line
                                        + before
                                        + "0-3"
                                        + size
                                        + "\r\n\r\nsome\r\n"
                                        + line
                                        + before
                                        + "5-8"
                                        + size
                                        + "\r\n\r\ntext\r\n"
                                        + line
                                        + "--\r\n");
                assertThat(site.get(name, "Range: bytes=0-3").field("Content-Type"))
                        .as("of one part of %s", name)
                        .startsWith("text/csv");
            }
        }
    }

    @Clause("H-4")
    @Test
    void range_thatTheFileDoesNotHave_isAnsweredWithNothingOfTheHandlers() throws Exception {
        try (ServedSite site =
                site(
                        response ->
                                response.type("text/csv")
                                        .header("ETag", "\"v1\"")
                                        .header("Content-Encoding", "br")
                                        .header("Content-Disposition", "attachment"))) {
            Answer answer = site.get("/small.txt", "Range: bytes=9999-");
            assertThat(answer.status()).isEqualTo(416);
            assertThat(answer.field("Content-Type")).isEqualTo("text/plain; charset=utf-8");
            assertThat(answer.field("Content-Range")).isEqualTo("bytes */3900");
            assertThat(answer.field("Vary")).isEqualTo("Accept-Encoding");
            assertThat(answer.has("Content-Disposition")).isFalse();
            assertThat(answer.has("Content-Encoding")).isFalse();
            assertThat(answer.has("ETag")).isFalse();
            assertThat(answer.text()).isEqualTo("the file has 3900 bytes\n");
        }
    }

    @Clause("H-4")
    @Test
    void file_thatTheHandlerSaysIsEncoded_isSentAsItIs() throws Exception {
        try (ServedSite site = site(response -> response.header("Content-Encoding", "br"))) {
            for (int i = 0; i < 2; i++) {
                Answer answer = site.get("/small.txt", GZIP);
                assertThat(answer.field("Content-Encoding")).isEqualTo("br");
                assertThat(answer.text()).isEqualTo(SMALL);
            }
            assertThat(site.get("/small.txt", GZIP, "Range: bytes=0-3").text()).isEqualTo("some");
            assertThat(site.get("/small.txt", "Range: bytes=0-3,5-8").status())
                    .as("the parts of what is encoded cannot be said to be that one by one")
                    .isEqualTo(200);
        }
    }

    @Clause("H-4")
    @Test
    void file_thatTheHandlerSaysIsAPart_isSentAsItIs() throws Exception {
        try (ServedSite site =
                site(
                        response ->
                                response.status(206)
                                        .header("Content-Range", "bytes 0-3899/9999"))) {
            Answer answer = site.get("/small.txt", GZIP, "Range: bytes=0-3899");
            assertThat(answer.field("Content-Range")).isEqualTo("bytes 0-3899/9999");
            assertThat(answer.has("Content-Encoding")).isFalse();
            assertThat(answer.text()).isEqualTo(SMALL);
        }
    }

    // ------------------------------------------------------------------ tags and dates

    private static void expect(ServedSite site, int status, String... fields) throws IOException {
        Answer answer = site.get("/small.txt", fields);
        assertThat(answer.status()).as("GET with %s", List.of(fields)).isEqualTo(status);
    }

    @Clause("H-4")
    @Test
    void conditions_whereTheHandlerSetsATag_areAboutThatTag() throws Exception {
        String own = "\"v1\"";
        try (ServedSite site = site(response -> response.header("ETag", own))) {
            assertThat(site.get("/small.txt").field("ETag")).isEqualTo(own);
            expect(site, 200, "If-Match: " + own);
            expect(site, 412, "If-Match: \"v2\"");
            expect(site, 412, "If-Match: W/" + own);
            expect(site, 304, "If-None-Match: " + own);
            expect(site, 304, "If-None-Match: W/" + own);
            expect(site, 200, "If-None-Match: \"v2\"");
            expect(site, 206, "If-Range: " + own, "Range: bytes=0-1");
            expect(site, 206, "If-Range: " + own, "Range: bytes=0-1", GZIP);
            expect(site, 206, "If-Range: " + own, "Range: bytes=0-1,4-5");
            expect(site, 200, "If-Range: \"v2\"", "Range: bytes=0-1");
            expect(site, 200, "If-Range: W/" + own, "Range: bytes=0-1");
            expect(site, 200, "If-Range: " + own, "If-Range: \"v2\"", "Range: bytes=0-1");
        }
    }

    @Clause("H-4")
    @Test
    void compressedForm_whereTheHandlerSetsATag_hasTheSameButWeak() throws Exception {
        String own = "\"v1\"";
        try (ServedSite site = site(response -> response.header("ETag", own))) {
            for (String method : List.of("GET", "HEAD")) {
                Answer packed = site.ask(method, "/small.txt", GZIP);
                assertThat(packed.field("Content-Encoding")).isEqualTo("gzip");
                assertThat(packed.field("ETag")).isEqualTo("W/" + own);
            }
            Answer known = site.get("/small.txt", GZIP, "If-None-Match: W/" + own);
            assertThat(known.status()).isEqualTo(304);
            assertThat(known.field("ETag")).isEqualTo("W/" + own);
            expect(site, 304, GZIP, "If-None-Match: " + own);
            expect(site, 412, GZIP, "If-Match: " + own);
        }
        try (ServedSite site = site(response -> response.header("ETag", "W/" + own))) {
            assertThat(site.get("/small.txt", GZIP).field("ETag")).isEqualTo("W/" + own);
            expect(site, 304, "If-None-Match: " + own);
            expect(site, 412, "If-Match: " + own);
            expect(site, 200, "If-Range: W/" + own, "Range: bytes=0-1");
        }
    }

    @Clause("H-4")
    @Test
    void conditions_whereTheHandlerSetsADate_areAboutThatDate() throws Exception {
        try (ServedSite site = site(response -> response.header("Last-Modified", DATE))) {
            assertThat(site.get("/small.txt").field("Last-Modified")).isEqualTo(DATE);
            expect(site, 304, "If-Modified-Since: " + DATE);
            expect(site, 200, "If-Modified-Since: " + EARLIER);
            expect(site, 200, "If-Unmodified-Since: " + DATE);
            expect(site, 412, "If-Unmodified-Since: " + EARLIER);
            expect(site, 206, "If-Range: " + DATE, "Range: bytes=0-1");
            expect(site, 200, "If-Range: " + EARLIER, "Range: bytes=0-1");
        }
        try (ServedSite site = site(response -> response.header("Last-Modified", "never"))) {
            expect(site, 200, "If-Modified-Since: " + DATE);
            expect(site, 200, "If-Unmodified-Since: " + EARLIER);
            expect(site, 200, "If-Range: " + DATE, "Range: bytes=0-1");
        }
    }

    @Clause("H-4")
    @Test
    void conditions_onAFileThatWasJustWritten_takeTheHandlersDateButForRanges() throws Exception {
        try (ServedSite site = site(response -> response.header("Last-Modified", DATE))) {
            Answer answer;
            do {
                // Again if that was long ago when it was looked at.
                Files.writeString(directory.resolve("small.txt"), SMALL);
                answer = site.get("/small.txt", "If-Range: " + DATE, "Range: bytes=0-1");
            } while (!answer.field("ETag").startsWith("W/"));
            assertThat(answer.status()).isEqualTo(200);
            expect(site, 304, "If-Modified-Since: " + DATE);
        }
    }
}
