package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.io.Buffer;

import org.junit.jupiter.api.Test;

class ChunkDecoderTest {
    private final ChunkDecoder decoder = new ChunkDecoder(10, 1000);

    @Clause("H-2")
    @Test
    void next_whileContentIsNotTaken_saysTheSame() {
        Buffer data = Buffer.allocate(100).put("5\r\nhello\r\n0\r\n\r\n");

        assertThat(decoder.next(data)).isEqualTo(5);
        assertThat(decoder.next(data)).isEqualTo(5);
        assertThat(data.getText(2, US_ASCII)).isEqualTo("he");
        decoder.taken(2);
        assertThat(decoder.next(data)).isEqualTo(3);
        assertThat(data.getText(3, US_ASCII)).isEqualTo("llo");
        decoder.taken(3);
        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.END);
        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.END);
        assertThat(data.readable()).isZero();
    }

    @Clause("H-2")
    @Test
    void next_atTheEnd_leavesWhatIsBehind() {
        Buffer data = Buffer.allocate(100).put("0\r\n\r\nGET /");

        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.END);
        assertThat(data.getText(US_ASCII)).isEqualTo("GET /");
    }

    @Clause("H-2")
    @Test
    void next_ofAnIncompleteLine_leavesIt() {
        Buffer data = Buffer.allocate(100).put("5;a=b\r");

        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.MORE);
        assertThat(data.readable()).isEqualTo(6);
    }

    @Clause("H-2")
    @Test
    void taken_ofMoreThanWasThere_isMisuse() {
        Buffer data = Buffer.allocate(100).put("5\r\nhel");
        assertThat(decoder.next(data)).isEqualTo(3);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> decoder.taken(4))
                .withMessageContaining("next() returned 3");
        assertThatIllegalArgumentException().isThrownBy(() -> decoder.taken(-1));
    }

    @Clause("H-2")
    @Test
    void refused_staysSo_untilReset() {
        Buffer data = Buffer.allocate(100).put("x\r\n");
        assertThatIllegalStateException().isThrownBy(decoder::error);
        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.REJECTED);
        assertThat(decoder.next(data.clear().put("0\r\n\r\n"))).isEqualTo(ChunkDecoder.REJECTED);
        assertThat(decoder.error()).isEqualTo(ParseError.BAD_CHUNK_SIZE);

        decoder.reset();

        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.END);
    }

    @Clause("H-2")
    @Test
    void trailers_afterTheirBufferIsGone_areStillThere_untilReset() {
        Buffer data = Buffer.allocate(100).put("0\r\nDigest: a, B\r\ndigest: c\r\n\r\n");
        assertThat(decoder.next(data)).isEqualTo(ChunkDecoder.END);
        data.clear().put("x".repeat(100));

        assertThat(decoder.trailers().getAll("DIGEST")).containsExactly("a, B", "c");
        assertThat(decoder.trailers().containsToken("Digest", "b")).isTrue();

        decoder.reset();
        assertThat(decoder.trailers().size()).isZero();
    }
}
