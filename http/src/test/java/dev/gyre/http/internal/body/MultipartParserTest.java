package dev.gyre.http.internal.body;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.http.MultipartConfig;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

class MultipartParserTest {
    private static final String A = "Content-Disposition: form-data; name=\"a\"\r\n\r\n";

    private static String read(String boundary, String body, int[] cuts, int room) {
        return MultipartReading.of(
                boundary, MultipartConfig.DEFAULT, body.getBytes(ISO_8859_1), cuts, room);
    }

    private static String read(String body) {
        return read("b", body, new int[0], Integer.MAX_VALUE);
    }

    private static String describe(String data) {
        return "a|null|Content-Disposition: form-data; name=\"a\";|" + data + "\n";
    }

    @Test
    @Clause("H-7")
    void parts_ofAWellFormedBody_areReported() {
        assertThat(read("--b\r\n" + A + "1\r\n--b--")).isEqualTo(describe("1") + "end");
        assertThat(read("--b--\r\n")).isEqualTo("end");
        assertThat(read("preamble\r\n--b \t\r\n" + A + "\r\n--b--epilogue"))
                .isEqualTo(describe("") + "end");
        assertThat(read("--b\r\n" + A + "x\r\n--\r\n--b\r\n" + A + "\r\r\n-\r\n--b--\r\n"))
                .isEqualTo(describe("x\r\n--") + describe("\r\r\n-") + "end");
        assertThat(
                        read(
                                "--b\r\ncontent-disposition: Form-Data; filename=\"x;\\\"y\\z\";"
                                        + " name=a\r\nX: y\r\n\r\n--b\r\n\r\n--b--"))
                .isEqualTo(
                        "a|x;\"y\\z|content-disposition: Form-Data; filename=\"x;\\\"y\\z\";"
                                + " name=a;X: y;|--b\r\n\nend");
    }

    @Test
    @Clause("H-7")
    void body_thatIsMalformed_is400() {
        String boundary = "400 the multipart body does not contain its boundary";
        String closing = "400 the multipart body ends before its closing boundary";
        String line = "400 a multipart boundary is not followed by a line end";
        String disposition =
                "400 part 1: expected the header Content-Disposition: form-data; name=\"…\"";
        Map<String, String> failures =
                Map.ofEntries(
                        Map.entry("", boundary),
                        Map.entry("--c\r\n", boundary),
                        Map.entry("x--b\r\n", boundary),
                        Map.entry("--b", closing),
                        Map.entry("--b-", closing),
                        Map.entry("--b\r\n", closing),
                        Map.entry("--b\r\n" + A.substring(0, 20), closing),
                        Map.entry("--b\r\n" + A, closing),
                        Map.entry("--bc\r\n", line),
                        Map.entry("--b-c", line),
                        Map.entry("--b\n", line),
                        Map.entry("--b\rx", line),
                        Map.entry("--b\r\n\r\n", disposition),
                        Map.entry("--b\r\nX: y\r\n\r\n", disposition),
                        Map.entry("--b\r\nContent-Disposition: form-data\r\n\r\n", disposition),
                        Map.entry("--b\r\nContent-Disposition: file; name=a\r\n\r\n", disposition),
                        Map.entry(
                                "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n",
                                disposition),
                        Map.entry(
                                "--b\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\n",
                                disposition),
                        Map.entry("--b\r\n" + A.substring(0, A.length() - 2) + A, disposition),
                        Map.entry("--b\r\nX\r\n\r\n", "400 part 1: a header line has no colon"),
                        Map.entry(
                                "--b\r\nX: y\r\n z: 1\r\n\r\n",
                                "400 part 1: a header has an invalid name or value"),
                        Map.entry(
                                "--b\r\nX: y\nz\r\n\r\n",
                                "400 part 1: a header has an invalid name or value"),
                        Map.entry(
                                "--b\r\nX: \u00ff\r\n\r\n",
                                "400 part 1: the headers are not UTF-8"));
        failures.forEach((body, failure) -> assertThat(read(body)).as(body).endsWith(failure));
    }

    @Test
    @Clause("H-7")
    void body_aboveALimit_is413() {
        MultipartConfig config =
                MultipartConfig.DEFAULT.withMaxParts(2).withMaxPartHeaderBytes(A.length());
        String part = "--b\r\n" + A + "\r\n";
        assertThat(read(config, part + part + "--b--")).endsWith("end");
        assertThat(read(config, part + part + part))
                .endsWith("413 the multipart body has more than 2 parts");
        assertThat(read(config, "--b\r\nX" + A))
                .isEqualTo("413 part 1: the headers have more than " + A.length() + " bytes");
        assertThat(read(config, "--b" + " ".repeat(A.length()) + "\r\n" + A + "\r\n--b--"))
                .endsWith("end");
        assertThat(read(config, "--b" + " ".repeat(A.length() + 1))).startsWith("400 ");
    }

    private static String read(MultipartConfig config, String body) {
        return MultipartReading.of(
                "b", config, body.getBytes(ISO_8859_1), new int[0], Integer.MAX_VALUE);
    }

    /// Bodies whose data is mostly made of pieces of their own delimiter.
    @Property(tries = 500)
    @Clause("H-7")
    void body_splitAnyhow_hasTheSameParts(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 100) int room) {
        Random random = new Random(seed);
        String boundary = random.nextBoolean() ? "b" : "--x-x" + "y".repeat(random.nextInt(60));
        String[] pieces = {
            "\r", "\n", "--", "-", boundary, "\r\n--", "\r\n", "x", "\r\n--" + boundary
        };
        StringBuilder body = new StringBuilder();
        StringBuilder expected = new StringBuilder();
        for (int part = random.nextInt(4); part >= 0; part--) {
            StringBuilder data = new StringBuilder();
            for (int i = random.nextInt(30); i > 0; i--) {
                data.append(pieces[random.nextInt(pieces.length - 1)]);
            }
            String safe = ("x" + data).replace("\r\n--" + boundary, "");
            while (("\r\n" + safe).contains("\r\n--" + boundary)) {
                safe = ("\r\n" + safe).replace("\r\n--" + boundary, "");
            }
            body.append(body.isEmpty() ? "--" : "\r\n--").append(boundary).append("\r\n").append(A);
            body.append(safe);
            expected.append(describe(safe));
        }
        body.append("\r\n--").append(boundary).append("--\r\n");
        expected.append("end");
        if (random.nextInt(3) == 0) { // Mostly malformed: the outcome is the same all the same.
            int at = random.nextInt(body.length());
            body.replace(at, at + 1, pieces[random.nextInt(pieces.length)]);
            expected = new StringBuilder(read(boundary, body.toString(), new int[0], 1 << 20));
        }
        String text = body.toString();
        assertThat(read(boundary, text, new int[0], 1 << 20)).isEqualTo(expected.toString());
        assertThat(read(boundary, text, new int[0], room)).isEqualTo(expected.toString());
        int[] everywhere = IntStream.range(1, text.length()).toArray();
        assertThat(read(boundary, text, everywhere, room)).isEqualTo(expected.toString());
        int[] anywhere = IntStream.of(everywhere).filter(_ -> random.nextInt(9) == 0).toArray();
        assertThat(read(boundary, text, anywhere, room)).isEqualTo(expected.toString());
    }
}
