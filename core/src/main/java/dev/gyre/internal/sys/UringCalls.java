package dev.gyre.internal.sys;

/// The system calls of io_uring, with the rules of [PollCalls]: results are zero or positive, or
/// `-errno`; one instance serves one thread at a time; the caller keeps the memory alive.
public interface UringCalls {
    int setup(int entries, long paramsAddress);

    /// Submits SQEs, waits for CQEs, or both.
    ///
    /// @param argAddress a signal mask, or with [IoUring#IORING_ENTER_EXT_ARG] an
    ///     `io_uring_getevents_arg`
    int enter(int fd, int toSubmit, int minComplete, int flags, long argAddress, long argSize);

    int register(int fd, int opcode, long argAddress, int count);

    /// Calls `poll(2)` on these `pollfd` structures without blocking.
    ///
    /// @return how many of them are ready, or `-errno`
    int poll(long pollfdsAddress, int count);

    /// Maps a part of a ring, readable and writable.
    ///
    /// @return its address, or `-errno`
    long mmap(long length, int fd, long offset);

    int munmap(long address, long length);

    int madvise(long address, long length, int advice);
}
