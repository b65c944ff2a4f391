package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// An array of C strings: addresses that end with a null, followed by the NUL-terminated bytes. All
/// of it is one block of native memory, which lives as long as this object is reachable.
///
/// Text is encoded in the charset of the user's locale, because file names come from there. The
/// locale of a bare container is plain ASCII, which only means that none is set: then it is UTF-8.
public final class CStrings {
    private static final Charset CHARSET = charset(System.getProperty("native.encoding", "UTF-8"));

    private final MemorySegment memory;

    public CStrings(List<byte[]> strings) {
        long table = (strings.size() + 1L) * Long.BYTES;
        long bytes = 0;
        for (byte[] string : strings) {
            bytes += string.length + 1L;
        }
        memory = Memory.allocate(table + bytes);
        long at = table;
        for (int i = 0; i < strings.size(); i++) {
            byte[] string = strings.get(i);
            memory.setAtIndex(JAVA_LONG, i, memory.address() + at);
            MemorySegment.copy(string, 0, memory, JAVA_BYTE, at, string.length);
            at += string.length + 1L;
        }
    }

    /// Returns the address of the array.
    public long address() {
        return memory.address();
    }

    /// Returns the address of one string.
    public long addressOf(int index) {
        return memory.getAtIndex(JAVA_LONG, index);
    }

    static Charset charset(String locale) {
        if (!Charset.isSupported(locale)) {
            return StandardCharsets.UTF_8;
        }
        Charset charset = Charset.forName(locale);
        return charset.equals(StandardCharsets.US_ASCII) ? StandardCharsets.UTF_8 : charset;
    }

    /// Encodes a text, without the final NUL.
    ///
    /// @param what the role of the text, for the message
    /// @throws IllegalArgumentException if the text has a NUL or is not encodable
    public static byte[] encode(String what, String text) {
        return encode(CHARSET, what, text);
    }

    static byte[] encode(Charset charset, String what, String text) {
        int nul = text.indexOf('\0');
        if (nul >= 0) {
            throw new IllegalArgumentException(
                    what
                            + " has a NUL character at index "
                            + nul
                            + ", which ends the text for other programs: "
                            + text.replace('\0', '\u2400'));
        }
        try {
            ByteBuffer bytes = charset.newEncoder().encode(CharBuffer.wrap(text));
            byte[] exact = new byte[bytes.remaining()];
            bytes.get(exact);
            return exact;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    what + " cannot be encoded in " + charset + ", the locale's charset: " + text,
                    e);
        }
    }

    /// Returns the environment of this process, each variable as `name=value`. The bytes are exact,
    /// since a value that is not text in the locale's charset does not survive [System#getenv()].
    public static List<byte[]> environment() {
        return Linker.nativeLinker()
                .defaultLookup()
                .find("environ")
                .map(CStrings::dereference)
                .filter(table -> table.address() != 0)
                .map(CStrings::readTable)
                .orElseGet(() -> encoded(System.getenv()));
    }

    /// Null in a program that refers to `environ` itself: the linker then uses the program's copy
    /// of the variable and leaves libc's own unset.
    @SuppressWarnings("restricted") // the purpose of this package
    private static MemorySegment dereference(MemorySegment variable) {
        return variable.reinterpret(ADDRESS.byteSize()).get(ADDRESS, 0);
    }

    @SuppressWarnings("restricted") // the purpose of this package
    private static List<byte[]> readTable(MemorySegment table) {
        List<byte[]> strings = new ArrayList<>();
        MemorySegment addresses = table.reinterpret(Long.MAX_VALUE);
        for (long i = 0; ; i++) {
            MemorySegment string = addresses.getAtIndex(ADDRESS, i);
            if (string.address() == 0) {
                return strings;
            }
            strings.add(readString(string.reinterpret(Long.MAX_VALUE)));
        }
    }

    private static byte[] readString(MemorySegment string) {
        long length = 0;
        while (string.get(JAVA_BYTE, length) != 0) {
            length++;
        }
        return string.asSlice(0, length).toArray(JAVA_BYTE);
    }

    static List<byte[]> encoded(Map<String, String> variables) {
        List<byte[]> encoded = new ArrayList<>(variables.size());
        variables.forEach((name, value) -> encoded.add(encode("variable", name + "=" + value)));
        return encoded;
    }
}
