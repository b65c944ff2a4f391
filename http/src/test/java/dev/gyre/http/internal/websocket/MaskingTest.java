package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.nio.ByteBuffer;

class MaskingTest {
    @Property
    void apply_fromAnyPlaceAndPhase_isByteByByteTheSame(
            @ForAll @Size(max = 70) byte[] content,
            @ForAll @IntRange(max = 20) int from,
            @ForAll int key,
            @ForAll @IntRange(max = 9) int phase) {
        int start = Math.min(from, content.length);
        byte[] expected = content.clone();
        for (int i = start; i < content.length; i++) {
            int place = (i - start + phase) & 3;
            expected[i] ^= (byte) (key >>> (24 - 8 * place));
        }
        Masking.apply(content, start, content.length - start, key, phase);
        assertThat(content).isEqualTo(expected);
    }

    @Property
    void copy_betweenAnyMemory_isTheSameAsInPlace(
            @ForAll @Size(max = 70) byte[] content,
            @ForAll boolean direct,
            @ForAll int key,
            @ForAll @IntRange(max = 9) int offset) {
        ByteBuffer from = ByteBuffer.wrap(content);
        if (direct) {
            from = ByteBuffer.allocateDirect(content.length).put(content).flip();
        }
        ByteBuffer to = ByteBuffer.allocateDirect(content.length + 1);
        Masking.copy(from, to, content.length, key, offset);
        byte[] copied = new byte[to.flip().remaining()];
        to.get(copied);
        Masking.apply(content, 0, content.length, key, offset);
        assertThat(copied).isEqualTo(content);
        assertThat(from.hasRemaining()).isFalse();
    }
}
