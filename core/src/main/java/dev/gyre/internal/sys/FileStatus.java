package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// What sort of file a descriptor is.
public final class FileStatus {
    private static final int PTMX_MAJOR = 5;
    private static final int PTMX_MINOR = 2;

    private final MemorySegment memory = Memory.allocate(Linux.SIZEOF_STATX);

    /// Fills it in. After a refusal it is of no sort at all.
    ///
    /// @return zero or `-errno`
    public int readFrom(Inputs inputs, int fd) {
        try {
            return inputs.statx(fd, Linux.STATX_TYPE, memory.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    public boolean isFifo() {
        return isOfType(Linux.S_IFIFO);
    }

    public boolean isSocket() {
        return isOfType(Linux.S_IFSOCK);
    }

    public boolean isCharacterDevice() {
        return isOfType(Linux.S_IFCHR);
    }

    /// Whether it is the device that makes another pseudo terminal each time it is opened.
    public boolean isTerminalFactory() {
        return isCharacterDevice()
                && memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_STATX_RDEV_MAJOR) == PTMX_MAJOR
                && memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_STATX_RDEV_MINOR) == PTMX_MINOR;
    }

    private boolean isOfType(int type) {
        return (memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_STATX_MODE) & Linux.S_IFMT) == type;
    }
}
