package dev.gyre.internal.sys;

/// The seam for finding out what an inherited descriptor is and reading it without changing it
/// for others, beside [PollSyscalls] and with its rules: results are zero or positive, or `-errno`; one
/// instance serves one thread at a time; the caller keeps the memory alive.
public interface Inputs {
    /// `open` without creating anything.
    int open(String path, int flags);

    /// `statx` of the descriptor itself. Asked for by number, since libcs have it only of late.
    int statx(int fd, int mask, long statxAddress);

    long recv(int fd, long address, long count, int flags);
}
