package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;

class CStringsTest {
    @Test
    @Clause("Y-1")
    void charset_isTheLocales_butUtf8WhereThatIsAsciiOrUnknown() {
        assertThat(CStrings.charset("ISO-8859-1")).isEqualTo(ISO_8859_1);
        assertThat(CStrings.charset("UTF-8")).isEqualTo(UTF_8);
        assertThat(CStrings.charset("ANSI_X3.4-1968")).isEqualTo(UTF_8);
        assertThat(CStrings.charset("no-such-charset")).isEqualTo(UTF_8);
    }

    @Test
    @Clause("Y-1")
    void encode_ofWhatTheLocaleCannotSay_isRefused() {
        assertThat(CStrings.encode(ISO_8859_1, "argument", "ö")).containsExactly(0xf6);
        assertThatThrownBy(() -> CStrings.encode(ISO_8859_1, "argument 1", "日"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("argument 1")
                .hasMessageContaining("ISO-8859-1");
    }

    @Property(tries = 200)
    void strings_areFoundWhereTheTableSays(
            @ForAll List<@CharRange(from = ' ', to = '\u07ff') String> texts) {
        List<byte[]> encoded =
                texts.stream().map(text -> CStrings.encode(UTF_8, "text", text)).toList();
        CStrings strings = new CStrings(encoded);
        for (int i = 0; i < texts.size(); i++) {
            long address = Memory.getLong(strings.address() + (long) i * Long.BYTES);
            assertThat(address).isEqualTo(strings.addressOf(i));
            assertThat(bytesAt(address)).isEqualTo(encoded.get(i));
        }
        assertThat(Memory.getLong(strings.address() + (long) texts.size() * Long.BYTES)).isZero();
    }

    @SuppressWarnings("restricted") // a test's own look
    private static byte[] bytesAt(long address) {
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(Long.MAX_VALUE);
        long length = 0;
        while (memory.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    @Clause("Y-1")
    void environment_whereLibcHasNone_isTheJvms() {
        assertThat(CStrings.encoded(Map.of("A", "b=c"))).containsExactly("A=b=c".getBytes(UTF_8));
    }
}
