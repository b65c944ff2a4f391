package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Buffers, independent of the owner of their memory.
class BufferTest {
    private static Buffer of(String text) {
        return Buffer.allocate(Math.max(1, text.length())).put(text.getBytes(US_ASCII));
    }

    // ------------------------------------------------------------------ putting and reading

    @Example
    void numbers_areBigEndian() {
        Buffer buffer = Buffer.allocate(15);
        buffer.put((byte) 0); // Misaligns the others.
        buffer.putShort((short) 0xfeff).putInt(0x8001_0203).putLong(0x8102_0304_0506_0708L);
        ByteBuffer same = buffer.asReadable();
        assertThat(same.get(1)).isEqualTo((byte) 0xfe);
        assertThat(same.getInt(3)).isEqualTo(0x8001_0203);
        assertThat(buffer.skip(1).getShort()).isEqualTo((short) 0xfeff);
        assertThat(buffer.getInt()).isEqualTo(0x8001_0203);
        assertThat(buffer.getLong()).isEqualTo(0x8102_0304_0506_0708L);
        assertThat(buffer.readable()).isZero();
    }

    @Example
    void numbers_thatDoNotFit_changeNothing() {
        Buffer full = of("abcdefg").skip(6);
        assertThatThrownBy(full::getShort)
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessage("2 bytes cannot be read: 1 are readable");
        assertThatThrownBy(full::getInt).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(full::getLong).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> full.putShort((short) 1))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessage("2 bytes do not fit: 0 are writable");
        assertThatThrownBy(() -> full.putInt(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> full.putLong(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(full.getText(US_ASCII)).isEqualTo("g");
    }

    @Example
    void put_ofAnotherBuffer_emptiesThatOne() {
        Buffer other = of("..rest").skip(2);
        Buffer buffer = Buffer.allocate(7).put((byte) '>');
        buffer.put(other);
        assertThat(buffer.getText(US_ASCII)).isEqualTo(">rest");
        assertThat(other.readable()).isZero();
        Buffer tooMuch = of("abc");
        assertThatThrownBy(() -> buffer.put(tooMuch)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(tooMuch.readable()).isEqualTo(3);
        assertThatThrownBy(() -> buffer.put(buffer)).isInstanceOf(IllegalArgumentException.class);
    }

    @Example
    void put_ofText_isUtf8AndPutsAllOrNothing() {
        Buffer buffer = Buffer.allocate(10).put("plain").put("").put("grü");
        assertThat(buffer.readable()).isEqualTo(9);
        assertThatThrownBy(() -> buffer.put("ü")).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> buffer.put("ab")).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(buffer.put("!").getText(UTF_8)).isEqualTo("plaingrü!");
    }

    @Example
    void get_intoAPartOfAnArray_leavesTheRestOfBoth() {
        byte[] into = "------".getBytes(US_ASCII);
        Buffer buffer = of("abcdef").skip(1);
        assertThat(buffer.get(into, 2, 3).getText(US_ASCII)).isEqualTo("ef");
        assertThat(new String(into, US_ASCII)).isEqualTo("--bcd-");
        assertThatThrownBy(() -> of("abc").get(into, 4, 3))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Example
    void peekLong_looksAtEightBytesWithoutTakingThem() {
        Buffer buffer = of(".abcdefghi").skip(1);
        assertThat(buffer.peekLong(1)).isEqualTo(0x6263_6465_6667_6869L);
        assertThat(buffer.readable()).isEqualTo(9);
        assertThatThrownBy(() -> buffer.peekLong(2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> buffer.peekLong(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Example
    void allocate_ofMuch_beginsWithACacheLine() {
        // The kernel copies to unaligned addresses at a third of the speed.
        assertThat(MemorySegment.ofBuffer(Buffer.allocate(16_384).asWritable()).address() % 64)
                .isZero();
    }

    @Example
    void text_ofSoManyBytes_leavesTheRest() {
        Buffer buffer = Buffer.allocate(16).put("grün!".getBytes(UTF_8));
        assertThat(buffer.getText(5, UTF_8)).isEqualTo("grün");
        assertThatThrownBy(() -> buffer.getText(2, UTF_8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> buffer.getText(-1, UTF_8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(buffer.getBytes()).containsExactly('!');
        assertThat(buffer.getBytes()).isEmpty();
    }

    @Example
    void writableView_countsWhatIsAdvanced() {
        Buffer buffer = of("ab").skip(1);
        assertThat(buffer.asWritable().remaining()).isZero();
        buffer.compact();
        ByteBuffer room = buffer.asWritable();
        assertThat(room.remaining()).isEqualTo(1);
        room.put((byte) 'c');
        assertThat(buffer.readable()).isEqualTo(1);
        buffer.advance(1);
        assertThat(buffer.getText(US_ASCII)).isEqualTo("bc");
        assertThatThrownBy(() -> buffer.advance(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> buffer.advance(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Property(tries = 2_000)
    void indexOf_anyByte_isWhereTheFirstOneIs(
            @ForAll @Size(max = 40) byte[] content,
            @ForAll @IntRange(max = 20) int skipped,
            @ForAll byte wanted) {
        Buffer buffer = Buffer.allocate(100).put(content).put(wanted);
        buffer.skip(Math.min(skipped, content.length));
        byte[] rest = new byte[buffer.readable()];
        buffer.asReadable().get(rest);
        int expected = 0;
        while (rest[expected] != wanted) {
            expected++;
        }
        assertThat(buffer.indexOf(wanted)).isEqualTo(expected);
        assertThat(buffer.readable()).as("nothing is taken").isEqualTo(rest.length);
        // Bytes beyond the write index do not count.
        Buffer before = buffer.slice(expected);
        assertThat(before.indexOf(wanted)).isEqualTo(-1);
    }

    @Property(tries = 2_000)
    void indexOf_amongBytesThatDifferInOneBit_isNotMisled(
            @ForAll byte wanted, @ForAll @IntRange(max = 7) int bit, @ForAll boolean lower) {
        byte like = (byte) (wanted ^ 1 << bit);
        Buffer buffer = Buffer.allocate(24);
        for (int i = 0; i < 24; i++) {
            buffer.put(i == 13 || (lower && i == 18) ? wanted : like);
        }
        assertThat(buffer.indexOf(wanted)).isEqualTo(13);
        assertThat(buffer.skip(14).indexOf(wanted)).isEqualTo(lower ? 4 : -1);
    }

    @Property(tries = 1_000)
    void indexOf_fromAnOffset_isThatOfTheRest(
            @ForAll @Size(max = 40) byte[] content,
            @ForAll @IntRange(max = 40) int skipped,
            @ForAll @IntRange(max = 41) int from,
            @ForAll byte wanted) {
        Buffer buffer = Buffer.allocate(41).put(content).put(wanted);
        buffer.skip(Math.min(skipped, content.length));
        if (from > buffer.readable()) {
            assertThatThrownBy(() -> buffer.indexOf(wanted, from))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            return;
        }
        int found = buffer.indexOf(wanted, from);
        int ofRest = buffer.skip(from).indexOf(wanted);
        assertThat(found).isEqualTo(ofRest < 0 ? -1 : from + ofRest);
    }

    @Example
    @Clause("O-8")
    void indexOf_fromANegativeOffset_isMisuse() {
        assertThatThrownBy(() -> of("abc").indexOf((byte) 'a', -1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    // ------------------------------------------------------------------ marks

    @Example
    @Clause("O-8")
    void reset_afterReading_makesTheBytesAfterTheMarkReadableAgain() {
        Buffer buffer = Buffer.allocate(12).put("onetwothree").skip(3).mark();
        assertThat(buffer.getText(5, US_ASCII)).isEqualTo("twoth");
        assertThat(buffer.reset().getText(US_ASCII)).isEqualTo("twothree");
        buffer.put("!");
        assertThat(buffer.reset().getText(US_ASCII)).isEqualTo("twothree!");
    }

    @Example
    @Clause("O-8")
    void reset_withoutAMark_isMisuse() {
        assertThatThrownBy(() -> of("abc").reset())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call mark()");
        assertThatThrownBy(() -> of("abc").mark().compact().reset())
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> of("abc").mark().clear().reset())
                .isInstanceOf(IllegalStateException.class);
    }

    @Example
    @Clause("O-8")
    void reset_afterASlice_readsTheBytesOfTheSliceAgain() {
        Buffer buffer = of("onetwo").mark();
        Buffer one = buffer.slice(3);
        assertThat(buffer.reset().getText(US_ASCII)).isEqualTo("onetwo");
        assertThat(one.mark().getText(US_ASCII)).isEqualTo("one");
        assertThat(one.reset().readable()).isEqualTo(3);
    }

    // ------------------------------------------------------------------ slices

    @Example
    @Clause("O-8")
    void slice_takesBytesOff_andHasNoRoom() {
        Buffer buffer = of("onetwothree");
        Buffer one = buffer.slice(3);
        Buffer two = buffer.slice(3);
        assertThat(buffer.getText(US_ASCII)).isEqualTo("three");
        assertThat(two.writable()).isZero();
        assertThatThrownBy(() -> two.put((byte) 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(two.compact().readable()).isEqualTo(3);
        assertThat(one.slice(2).getText(US_ASCII)).isEqualTo("on");
        assertThat(one.getText(US_ASCII)).isEqualTo("e");
        assertThat(two.clear().readable()).isZero();
        assertThat(two.writable()).isZero();
        assertThatThrownBy(() -> buffer.slice(1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Example
    @Clause("O-8")
    void slice_ofAllocatedMemory_isNotOverwritten() {
        Buffer buffer = of("keep,rest");
        Buffer slice = buffer.slice(4);
        buffer.compact();
        assertThat(buffer.writable()).isZero();
        buffer.clear();
        assertThat(buffer.writable()).isEqualTo(5);
        buffer.put(new byte[5]);
        assertThat(slice.getText(US_ASCII)).isEqualTo("keep");
        slice.release();
        assertThatThrownBy(slice::readable)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the buffer belongs to no owner: it was released");
        assertThat(buffer.clear().writable()).as("its place can be used again").isEqualTo(9);
        buffer.release(); // Nothing to release.
        assertThat(buffer.writable()).isEqualTo(9);
    }
}
