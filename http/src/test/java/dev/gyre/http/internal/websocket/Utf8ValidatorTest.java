package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.util.HexFormat;

/// UTF-8 as the JDK's decoder, which reports what is malformed, sees it.
class Utf8ValidatorTest {
    private final CharsetDecoder model = UTF_8.newDecoder();

    private boolean modelAccepts(byte[] bytes) {
        try {
            model.reset().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    private static boolean accepts(byte[] bytes, int cut) {
        Utf8Validator check = new Utf8Validator();
        return check.accept(bytes, 0, cut)
                && check.accept(bytes, cut, bytes.length - cut)
                && check.isComplete();
    }

    @Clause("K-1")
    @Example
    void sequences_ofThreeBytes_areSeenAsTheDecoderDoes() {
        int[] thirds = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
        for (int number = 0; number < 1 << 16; number++) {
            for (int third : thirds) {
                byte[] bytes = {(byte) (number >> 8), (byte) number, (byte) third};
                boolean accepted = accepts(bytes, 1);
                assert accepted == modelAccepts(bytes)
                        : HexFormat.of().formatHex(bytes) + " was seen as UTF-8: " + accepted;
            }
        }
    }

    @Clause("K-1")
    @Example
    void characters_all_areAccepted() {
        Utf8Validator check = new Utf8Validator();
        for (int point = 0; point <= Character.MAX_CODE_POINT; point++) {
            if (point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE) {
                byte[] bytes = Character.toString(point).getBytes(UTF_8);
                assert check.accept(bytes, 0, bytes.length) && check.isComplete()
                        : "refused U+" + Integer.toHexString(point);
            }
        }
    }

    @Clause("K-1")
    @Property
    void bytes_howeverCut_areSeenAsTheDecoderDoes(
            @ForAll("almostText") byte[] bytes, @ForAll @IntRange(max = 64) int cut) {
        assertThat(accepts(bytes, Math.min(cut, bytes.length)))
                .as("%s is UTF-8", HexFormat.of().formatHex(bytes))
                .isEqualTo(modelAccepts(bytes));
    }

    /// Text of which at most one byte was changed: random bytes are hardly ever right.
    @Provide
    Arbitrary<byte[]> almostText() {
        return Arbitraries.strings()
                .withCharRange('\0', '\u2fff')
                .ofMaxLength(24)
                .flatMap(
                        text ->
                                Arbitraries.integers()
                                        .between(-1, 71)
                                        .map(
                                                at -> {
                                                    byte[] bytes = (text + "😀").getBytes(UTF_8);
                                                    if (at >= 0) {
                                                        bytes[at % bytes.length] ^=
                                                                (byte) (1 << at % 8);
                                                    }
                                                    return bytes;
                                                }));
    }
}
