package dev.gyre.internal.sys;

/// The memory system calls. Results are as in [PollCalls]: zero or positive, or `-errno`. Unlike
/// [PollCalls], one instance serves any number of threads.
public interface MemoryCalls {
    /// Maps zeroed memory, private to the process, readable and writable.
    ///
    /// @return its address, or `-errno`
    long map(long bytes);

    int unmap(long address, long bytes);

    /// Returns the pages of an address range to the system. The range stays mapped; the next read
    /// returns zeros or the old content.
    int discard(long address, long bytes);
}
