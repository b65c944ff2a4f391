package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.zip.GZIPInputStream;

class CompressionTest {
    private static final String GZIP = "Accept-Encoding: gzip";
    private static final String TEXT = "all work and no play ".repeat(200);

    private final Compression compression = new Compression();

    private ServedSite site(Handler handler) {
        return new ServedSite(server -> server.use(compression).get("/", handler));
    }

    private static String unzip(byte[] content) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(content))) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    @Test
    void text_forAPeerThatTakesGzip_isCompressed() throws Exception {
        try (ServedSite site = site((_, response) -> response.header("ETag", "\"a\"").text(TEXT));
                Socket socket = site.connect()) {
            for (int i = 0; i < 3; i++) {
                var answer = site.ask(socket, "GET", "/", GZIP);
                assertThat(answer.field("Content-Encoding")).isEqualTo("gzip");
                assertThat(answer.field("Vary")).isEqualTo("Accept-Encoding");
                assertThat(answer.field("ETag")).isEqualTo("W/\"a\"");
                assertThat(answer.content().length).isLessThan(TEXT.length() / 10);
                assertThat(unzip(answer.content())).isEqualTo(TEXT);
            }
            var plain = site.ask(socket, "GET", "/");
            assertThat(plain.text()).isEqualTo(TEXT);
            assertThat(plain.has("Content-Encoding")).isFalse();
            assertThat(plain.field("Vary")).isEqualTo("Accept-Encoding");
            assertThat(plain.field("ETag")).isEqualTo("\"a\"");
        }
    }

    @Test
    void answers_thatAreNothingForIt_areSentAsTheyAre() throws Exception {
        requirePlain((_, response) -> response.text("short"));
        requirePlain((_, response) -> response.header("Content-Encoding", "br").text(TEXT));
        requirePlain(
                (_, response) ->
                        response.header("Cache-Control", "public, No-Transform").text(TEXT));
        requirePlain((_, response) -> response.status(206).text(TEXT));
        requirePlain((_, response) -> response.type("image/png").send(TEXT.getBytes(UTF_8)));
        requirePlain((_, response) -> response.send(TEXT.getBytes(UTF_8)));
        requirePlain(
                (_, response) -> {
                    var out = response.type("text/plain").header("Content-Length", "5").stream();
                    out.write("hello");
                    return out.end();
                });
    }

    private void requirePlain(Handler handler) throws Exception {
        try (ServedSite site = site(handler)) {
            var answer = site.get("/", GZIP);
            assertThat(answer.field("Content-Encoding")).isNotEqualTo("gzip");
            assertThat(answer.text()).isIn("short", TEXT, "hello");
        }
    }

    @Test
    void wholeContent_thatWouldKeepTheLoopBusy_isSentAsItIs() throws Exception {
        String most = "x".repeat(1 << 20);
        try (ServedSite site = site((_, response) -> response.text(most))) {
            assertThat(site.get("/", GZIP).field("Content-Encoding")).isEqualTo("gzip");
        }
        try (ServedSite site = site((_, response) -> response.text(most + "x"))) {
            var answer = site.get("/", GZIP);
            assertThat(answer.has("Content-Encoding")).isFalse();
            assertThat(answer.content()).hasSize(most.length() + 1);
        }
    }

    @Test
    void head_saysWhatGetWouldSay() throws Exception {
        try (ServedSite site = site((_, response) -> response.text(TEXT))) {
            var get = site.get("/", GZIP);
            var head = site.ask("HEAD", "/", GZIP);
            assertThat(head.field("Content-Length")).isEqualTo(get.field("Content-Length"));
            assertThat(head.field("Content-Encoding")).isEqualTo("gzip");
        }
    }

    @Test
    void stream_ofText_isCompressedAndItsCoderGivenBack() throws Exception {
        Handler handler =
                (_, response) -> {
                    var out = response.type("text/plain").stream();
                    for (int i = 0; i < 100; i++) {
                        out.write("line " + i + "\n");
                    }
                    return out.end();
                };
        try (ServedSite site = site(handler)) {
            for (int i = 0; i < 40; i++) {
                var answer = site.get("/", GZIP);
                assertThat(answer.field("Content-Encoding")).isEqualTo("gzip");
                assertThat(unzip(answer.content())).startsWith("line 0\n").endsWith("line 99\n");
            }
            assertThat(compression.activeEncoders()).isZero();
        }
    }

    @Test
    void stream_flushed_arrivesBeforeItsEnd() throws Exception {
        requireEarly(
                (request, response) -> {
                    var out = response.type("text/plain").stream();
                    out.write("early");
                    out.flush();
                    return request.loop().deferred().promise();
                },
                "early");
    }

    @Test
    void events_arriveOneByOne() throws Exception {
        requireEarly(
                (_, response) -> {
                    var events = response.events();
                    events.send("now");
                    return events.closed();
                },
                "data: now\n\n");
    }

    /// Reads the content as far as it has to be there by now, and leaves.
    private void requireEarly(Handler handler, String text) throws Exception {
        try (ServedSite site = site(handler)) {
            try (Socket socket = site.connect()) {
                // Leaves with a reset: a mere end would only say that nothing more is asked.
                socket.setSoLinger(true, 0);
                socket.getOutputStream()
                        .write(
                                ("GET / HTTP/1.1\r\nHost: a\r\n" + GZIP + "\r\n\r\n")
                                        .getBytes(UTF_8));
                var in = socket.getInputStream();
                StringBuilder head = new StringBuilder();
                while (head.indexOf("\r\n\r\n") < 0) {
                    head.append((char) in.read());
                }
                assertThat(head.toString()).contains("Content-Encoding: gzip");
                StringBuilder size = new StringBuilder();
                for (int c = in.read(); c != '\n'; c = in.read()) {
                    size.append((char) c);
                }
                byte[] chunk = in.readNBytes(Integer.parseInt(size.toString().strip(), 16));
                var unzipped = new GZIPInputStream(new ByteArrayInputStream(chunk));
                assertThat(new String(unzipped.readNBytes(text.length()), UTF_8))
                        .as("flushed content is there without an end")
                        .isEqualTo(text);
            }
            // The peer has left in the middle: its coder has to come back, which this waits for.
            while (compression.activeEncoders() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void compression_withALevelThatIsNone_isRefused() {
        assertThatThrownBy(() -> new Compression(0, 10)).hasMessageContaining("0");
        assertThatThrownBy(() -> new Compression(10, 10)).hasMessageContaining("10");
        assertThatThrownBy(() -> new Compression(5, -1)).hasMessageContaining("-1");
    }
}
