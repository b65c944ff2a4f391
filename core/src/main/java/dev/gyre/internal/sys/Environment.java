package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The environment of this process, byte for byte: what a variable holds need not be text in the
/// locale's encoding, and would not survive the way over [System#getenv()].
public final class Environment {
    private Environment() {}

    /// Each variable as `name=value`.
    public static List<byte[]> variables() {
        return Linker.nativeLinker()
                .defaultLookup()
                .find("environ")
                .map(Environment::pointedAtBy)
                .filter(table -> table.address() != 0)
                .map(Environment::read)
                .orElseGet(() -> encoded(System.getenv()));
    }

    /// Null in a program that refers to `environ` itself: the linker then gives it the variable,
    /// and leaves libc's own unused.
    @SuppressWarnings("restricted") // this room's purpose
    private static MemorySegment pointedAtBy(MemorySegment variable) {
        return variable.reinterpret(ADDRESS.byteSize()).get(ADDRESS, 0);
    }

    @SuppressWarnings("restricted") // this room's purpose
    private static List<byte[]> read(MemorySegment table) {
        List<byte[]> variables = new ArrayList<>();
        MemorySegment addresses = table.reinterpret(Long.MAX_VALUE);
        for (long i = 0; ; i++) {
            MemorySegment string = addresses.getAtIndex(ADDRESS, i);
            if (string.address() == 0) {
                return variables;
            }
            variables.add(bytes(string.reinterpret(Long.MAX_VALUE)));
        }
    }

    private static byte[] bytes(MemorySegment string) {
        long length = 0;
        while (string.get(JAVA_BYTE, length) != 0) {
            length++;
        }
        return string.asSlice(0, length).toArray(JAVA_BYTE);
    }

    static List<byte[]> encoded(Map<String, String> variables) {
        List<byte[]> encoded = new ArrayList<>(variables.size());
        variables.forEach(
                (name, value) -> encoded.add(NativeText.encode("variable", name + "=" + value)));
        return encoded;
    }
}
