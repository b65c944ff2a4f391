package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.io.Buffer;

import org.junit.jupiter.api.Test;

/// Every limit: input at the limit, and one above, with any input after it.
class LimitsTest {
    private static final String HOST = "Host: a\r\n";

    @Clause("H-3")
    @Test
    void target_atItsLimit_isTaken_andOneAboveRefused() {
        String target = "/" + "t".repeat(MessageReader.MAX_TARGET - 1);

        assertThat(requests("GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n"))
                .isEqualTo("GET " + target + " 1.1 keep {Host: a}");
        assertThat(requests("GET " + target + "t HTTP/1.1\r\n" + HOST + "\r\n"))
                .isEqualTo("refused TARGET_TOO_LONG");
        assertThat(requests("GET " + target + "? HTTP/1.1\r\n" + HOST + "\r\n"))
                .as("a question mark counts")
                .isEqualTo("refused TARGET_TOO_LONG");
        assertThat(requests("GET " + target + "\0")).isEqualTo("refused TARGET_TOO_LONG");
        assertThat(requests("GET " + target)).isEqualTo("incomplete");
        assertThat(requests("GET " + target + "t")).isEqualTo("refused TARGET_TOO_LONG");
    }

    @Clause("H-3")
    @Test
    void head_atItsLimit_isTaken_andOneAboveRefused() {
        String before = "GET / HTTP/1.1\r\n" + HOST + "X: ";
        String value = "v".repeat(MessageReader.MAX_HEAD - before.length() - 4);

        assertThat(requests(before + value + "\r\n\r\n"))
                .isEqualTo("GET / 1.1 keep {Host: a, X: " + value + "}");
        assertThat(requests(before + value + "\r\n\r\n" + "GET / HTTP/1.1\r\n" + HOST + "\r\n"))
                .isEqualTo("GET / 1.1 keep {Host: a, X: " + value + "}; GET / 1.1 keep {Host: a}");
        assertThat(requests(before + value + "v\r\n\r\n")).isEqualTo("refused HEAD_TOO_LARGE");
        assertThat(requests("\r\n" + before + value + "\r\n\r\n"))
                .as("the empty line before counts")
                .isEqualTo("refused HEAD_TOO_LARGE");
        assertThat(requests(before + value + "\r\n\r")).isEqualTo("incomplete");
        assertThat(requests(before + value + "vvvv\0"))
                .as("what is beyond the limit is not looked at")
                .isEqualTo("refused HEAD_TOO_LARGE");
    }

    @Clause("H-3")
    @Test
    void responseHead_atItsLimit_isTaken_andOneAboveRefused() {
        String before = "HTTP/1.1 204 ";
        String phrase = "p".repeat(MessageReader.MAX_HEAD - before.length() - 4);

        assertThat(responses(before + phrase + "\r\n\r\n"))
                .isEqualTo("204 " + phrase + " 1.1 keep {}");
        assertThat(responses(before + phrase + "p\r\n\r\n")).isEqualTo("refused HEAD_TOO_LARGE");
    }

    @Clause("H-3")
    @Test
    void fields_asManyAsTheLimit_areTaken_andOneMoreRefused() {
        String head = "GET / HTTP/1.1\r\n" + HOST + "X:\r\n".repeat(MessageReader.MAX_FIELDS - 1);

        assertThat(requests(head + "\r\n")).startsWith("GET / 1.1 keep {Host: a, X: ,");
        assertThat(requests(head + "X:\r\n\r\n")).isEqualTo("refused TOO_MANY_HEADERS");
        assertThat(
                        responses(
                                "HTTP/1.1 204 \r\n"
                                        + "X:\r\n".repeat(MessageReader.MAX_FIELDS)
                                        + "\r\n"))
                .startsWith("204 1.1 keep {X: ,");
        assertThat(
                        responses(
                                "HTTP/1.1 204 \r\n"
                                        + "X:\r\n".repeat(MessageReader.MAX_FIELDS + 1)
                                        + "\r\n"))
                .isEqualTo("refused TOO_MANY_HEADERS");
    }

    @Clause("H-3")
    @Test
    void length_of18Digits_isTaken() {
        RequestHead head = new RequestHead(10, 100, 10);
        String text = "POST / HTTP/1.1\r\n" + HOST + "Content-Length: 999999999999999999\r\n\r\n";

        assertThat(head.parse(buffer(text))).isEqualTo(text.length());
        assertThat(head.contentLength()).isEqualTo(999_999_999_999_999_999L);
    }

    @Clause("H-3")
    @Test
    void chunkLine_atItsLimit_isTaken_andOneAboveRefused() {
        String extension = "1;" + "e".repeat(ChunkDecoder.MAX_LINE_BYTES - 4);

        assertThat(chunks(extension + "\r\na\r\n0\r\n\r\n")).endsWith("chunks \"a\"");
        assertThat(chunks("1;e" + extension.substring(2) + "\r\na\r\n0\r\n\r\n"))
                .endsWith("refused CHUNK_LINE_TOO_LONG");
        assertThat(chunks("1;a=\"" + "q".repeat(ChunkDecoder.MAX_LINE_BYTES)))
                .endsWith("refused CHUNK_LINE_TOO_LONG");
    }

    @Clause("H-3")
    @Test
    void chunkSize_of15Digits_isTaken() {
        ChunkDecoder decoder = new ChunkDecoder(1, 100);

        assertThat(decoder.next(buffer("fffffffffffffff\r\nabc"))).isEqualTo(3);
    }

    @Clause("H-3")
    @Test
    void extensions_ofManyChunks_areRefusedAboveTheLimitOfAll() {
        String extension = ";" + "e".repeat(127); // 128 bytes, and 16 KiB are 128 of them
        ChunkDecoder decoder = new ChunkDecoder(1, 100);
        Buffer data = Buffer.allocate(1 << 16);
        for (int i = 0; i < ChunkDecoder.MAX_EXTENSION_BYTES / extension.length(); i++) {
            data.put("1" + extension + "\r\na\r\n");
        }
        while (decoder.next(data) > 0) {
            data.skip(1);
            decoder.taken(1);
        }
        assertThat(decoder.next(data))
                .as("16 KiB of extensions are fine")
                .isEqualTo(ChunkDecoder.MORE);

        assertThat(decoder.next(data.put("1;e\r\na\r\n"))).isEqualTo(ChunkDecoder.REJECTED);
        assertThat(decoder.error()).isEqualTo(ParseError.TOO_MANY_EXTENSIONS);
    }

    @Clause("H-3")
    @Test
    void trailer_atItsLimits_isTaken_andOneAboveRefused() {
        String value = "v".repeat(MessageReader.MAX_TRAILER - "X: \r\n\r\n".length());
        String fields = "X:\r\n".repeat(MessageReader.MAX_TRAILER_FIELDS);

        assertThat(chunks("0\r\nX: " + value + "\r\n\r\n")).endsWith("chunks {X: " + value + "}");
        assertThat(chunks("0\r\nX: " + value + "v\r\n\r\n")).endsWith("refused TRAILER_TOO_LARGE");
        assertThat(chunks("0\r\n" + fields + "\r\n")).endsWith("chunks {X: , X: , X: , X: }");
        assertThat(chunks("0\r\n" + fields + "X:\r\n\r\n")).endsWith("refused TOO_MANY_HEADERS");
    }

    @Clause("H-3")
    @Test
    void limits_thatAllowNothing_areMisuse() {
        assertThatIllegalArgumentException().isThrownBy(() -> new RequestHead(0, 1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new RequestHead(1, 0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new RequestHead(1, 1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new ResponseHead(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new ResponseHead(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> new ChunkDecoder(0, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> new ChunkDecoder(1, 1));
    }

    private static String requests(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        return Splits.same(bytes, cuts -> MessageReader.ofRequests(bytes, cuts));
    }

    private static String responses(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        return Splits.same(bytes, cuts -> MessageReader.ofResponses("GET", bytes, cuts));
    }

    private static String chunks(String text) {
        return requests("POST / HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n" + text);
    }

    private static Buffer buffer(String text) {
        return Buffer.allocate(1024).put(text.getBytes(ISO_8859_1));
    }
}
