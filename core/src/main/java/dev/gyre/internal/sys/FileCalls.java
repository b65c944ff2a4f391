package dev.gyre.internal.sys;

/// The part of the seam that files are used by. These calls may wait for a disk: they are made off the loop,
/// or given to a kernel that makes them by itself. Results as for [PollSyscalls].
public interface FileCalls {
    /// Opens a file.
    ///
    /// @param pathAddress a C string
    int open(long pathAddress, int flags, int mode);

    long pread(int fd, long address, long count, long offset);

    long pwrite(int fd, long address, long count, long offset);

    int fsync(int fd);

    int fdatasync(int fd);

    /// Looks at a file.
    ///
    /// @param pathAddress a C string, empty with `AT_EMPTY_PATH` for the descriptor itself
    int statx(int fd, long pathAddress, int flags, int mask, long statxAddress);

    int close(int fd);
}
