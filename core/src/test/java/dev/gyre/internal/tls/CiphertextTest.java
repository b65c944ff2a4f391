package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.nio.ByteBuffer;

/// Two buffers read as one, wherever the boundary is.
class CiphertextTest {
    private static Ciphertext cut(byte[] bytes, int at) {
        return new Ciphertext(
                ByteBuffer.wrap(bytes, 0, at), ByteBuffer.wrap(bytes, at, bytes.length - at));
    }

    @Property(tries = 300)
    @Clause("X-1")
    void pieces_cutAnywhere_readAsOne(
            @ForAll @Size(min = 5, max = 60) byte[] bytes, @ForAll @IntRange(max = 60) int cutAt) {
        Ciphertext whole = Ciphertext.of(ByteBuffer.wrap(bytes));
        Ciphertext pieces = cut(bytes, Math.min(cutAt, bytes.length));

        assertThat(pieces.remaining()).isEqualTo(bytes.length);
        assertThat(pieces.type()).isEqualTo(bytes[0]);
        assertThat(pieces.majorVersion()).isEqualTo(bytes[1]);
        assertThat(pieces.recordLength()).isEqualTo(whole.recordLength());
        assertThat(pieces.missing()).isEqualTo(whole.missing());
        assertThat(pieces.peek(1_000)).isEqualTo(ByteBuffer.wrap(bytes));
    }

    @Property(tries = 300)
    @Clause("X-1")
    void take_ofAnyPart_leavesTheRest(
            @ForAll @Size(max = 40) byte[] bytes,
            @ForAll @IntRange(max = 40) int cutAt,
            @ForAll @IntRange(max = 40) int taken) {
        Ciphertext pieces = cut(bytes, Math.min(cutAt, bytes.length));
        int most = Math.min(taken, bytes.length);

        pieces.consume(most);

        assertThat(pieces.peek(1_000)).isEqualTo(ByteBuffer.wrap(bytes, most, bytes.length - most));
    }

    @Example
    @Clause("X-1")
    void missing_ofAPart_isTheRestOfTheHeaderAndThenOfTheRecord() {
        byte[] record = {23, 3, 3, 0, 4, 1, 2, 3, 4};

        assertThat(cut(new byte[0], 0).missing()).isEqualTo(5);
        assertThat(cut(new byte[] {23, 3, 3}, 2).missing()).isEqualTo(2);
        assertThat(cut(new byte[] {23, 3, 3, 0, 4, 1}, 4).missing()).isEqualTo(3);
        assertThat(cut(record, 7).missing()).isZero();
    }

    @Example
    @Clause("X-1")
    void missing_ofARecordLongerThanAllowed_isNothing() {
        byte[] header = {23, 3, 3, (byte) 0xff, (byte) 0xff};

        assertThat(cut(header, 4).missing()).as("missing bytes of an oversized record").isZero();
    }
}
