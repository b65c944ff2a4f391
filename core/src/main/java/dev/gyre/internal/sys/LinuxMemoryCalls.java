package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.longFunction;

import java.lang.foreign.MemorySegment;

/// The real memory calls, through libc; linked at first use, as in [LinuxPollCalls].
public final class LinuxMemoryCalls implements MemoryCalls {
    static final LinuxMemoryCalls INSTANCE = new LinuxMemoryCalls();

    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE = 2;

    // kqueue systems use a different value.
    private static final int MAP_ANONYMOUS = Platform.hasKqueue() ? 0x1000 : 0x20;

    private static final int MADV_DONTNEED = 4;

    // Guarded by this. The calls are rare. None may allocate, because they run when memory is
    // short.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Mappings {
        static final CFunction MMAP = longFunction("mmap");
        static final CFunction MUNMAP = intFunction("munmap");
    }

    private static final class Advice {
        static final CFunction MADVISE = intFunction("madvise");
    }

    private LinuxMemoryCalls() {}

    @Override
    public synchronized long map(long bytes) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        return Mappings.MMAP.call(captured, 0, bytes, PROT_READ_WRITE, flags, -1);
    }

    @Override
    public synchronized int unmap(long address, long bytes) {
        return (int) Mappings.MUNMAP.call(captured, address, bytes);
    }

    @Override
    public synchronized int discard(long address, long bytes) {
        return (int) Advice.MADVISE.call(captured, address, bytes, MADV_DONTNEED);
    }
}
