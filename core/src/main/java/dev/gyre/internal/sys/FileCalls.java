package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.List;

/// The system calls of files, file watching and terminals. Results are as in [PollCalls].
///
/// Calls on a file may wait for a disk, so they run off the loop or in the kernel's own workers. A
/// simulated kernel has neither inotify nor terminals: the defaults return `-ENOSYS`.
public interface FileCalls {
    /// The path is a C string.
    int open(long pathAddress, int flags, int mode);

    /// Opens an existing file.
    default int open(String path, int flags) {
        CStrings name = new CStrings(List.of(CStrings.encode("path", path)));
        try {
            return open(name.addressOf(0), flags, 0);
        } finally {
            Reference.reachabilityFence(name);
        }
    }

    long pread(int fd, long address, long count, long offset);

    long pwrite(int fd, long address, long count, long offset);

    int fsync(int fd);

    int fdatasync(int fd);

    /// The path is a C string, empty with `AT_EMPTY_PATH` for the descriptor itself.
    int statx(int fd, long pathAddress, int flags, int mask, long statxAddress);

    int close(int fd);

    default int inotifyInit1(int flags) {
        return -Errno.ENOSYS;
    }

    /// Watches a directory. Paths are bytes, since a name need not be text in any encoding.
    ///
    /// @param path without a NUL; `-ENAMETOOLONG` from [Linux#PATH_MAX] bytes on
    /// @return the watch, the same one as before if the directory is watched already
    default int inotifyAddWatch(int fd, byte[] path, int mask) {
        return -Errno.ENOSYS;
    }

    default int inotifyRmWatch(int fd, int watch) {
        return -Errno.ENOSYS;
    }

    default int tcgetattr(int fd, long termiosAddress) {
        return -Errno.ENOSYS;
    }

    default int tcsetattr(int fd, int when, long termiosAddress) {
        return -Errno.ENOSYS;
    }

    /// Sets raw mode in the settings at the address, without a system call.
    default void cfmakeraw(long termiosAddress) {}

    /// `ioctl(TIOCGWINSZ)`.
    default int windowSize(int fd, long winsizeAddress) {
        return -Errno.ENOSYS;
    }

    /// The type of a file.
    ///
    /// @param mode the mode bits; 0 if unknown
    record FileType(int mode, int major, int minor) {
        private static final int PTMX_MAJOR = 5;
        private static final int PTMX_MINOR = 2;

        /// Returns the type of an open file; unknown if the kernel refuses the call, as in some
        /// sandboxes.
        public static FileType of(FileCalls calls, int fd) {
            MemorySegment memory = Memory.allocate(Linux.SIZEOF_STATX + 1);
            long statx = memory.address();
            long emptyPath = statx + Linux.SIZEOF_STATX;
            int result = calls.statx(fd, emptyPath, Linux.AT_EMPTY_PATH, Linux.STATX_TYPE, statx);
            // Reading the segment keeps it alive during the call.
            return result < 0
                    ? new FileType(0, 0, 0)
                    : new FileType(
                            memory.get(JAVA_INT, Linux.OFFSETOF_STATX_MODE) & Linux.S_IFMT,
                            memory.get(JAVA_INT, Linux.OFFSETOF_STATX_RDEV_MAJOR),
                            memory.get(JAVA_INT, Linux.OFFSETOF_STATX_RDEV_MINOR));
        }

        public boolean isFifo() {
            return mode == Linux.S_IFIFO;
        }

        public boolean isSocket() {
            return mode == Linux.S_IFSOCK;
        }

        public boolean isCharacterDevice() {
            return mode == Linux.S_IFCHR;
        }

        /// Returns whether this is `/dev/ptmx`, which creates a pseudo terminal at every open.
        public boolean isTerminalMultiplexer() {
            return isCharacterDevice() && major == PTMX_MAJOR && minor == PTMX_MINOR;
        }
    }
}
