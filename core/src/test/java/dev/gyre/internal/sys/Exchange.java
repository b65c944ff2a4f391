package dev.gyre.internal.sys;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/// `renameat2` with RENAME_EXCHANGE, which Java lacks: exchanges the names of two entries
/// atomically.
public final class Exchange {
    private static final long RENAMEAT2 =
            System.getProperty("os.arch").equals("aarch64") ? 276 : 316;
    private static final long AT_FDCWD = -100;
    private static final long RENAME_EXCHANGE = 2;

    // As a system call, because musl lacks the function.
    private static final CFunction SYSCALL = Linkage.variadicLong("syscall", 1);

    private Exchange() {}

    public static void of(Path one, Path other) throws IOException {
        MemorySegment captured = Linkage.newCapture();
        try (Arena arena = Arena.ofConfined()) {
            long result =
                    SYSCALL.call(
                            captured,
                            RENAMEAT2,
                            AT_FDCWD,
                            arena.allocateFrom(one.toString()).address(),
                            AT_FDCWD,
                            arena.allocateFrom(other.toString()).address(),
                            RENAME_EXCHANGE);
            if (result != 0) {
                throw new IOException("this file system exchanges no entries: " + one);
            }
        }
    }
}
