package dev.gyre.internal.sys;

/// The seam of memory, beside [Kernel] and with its results: zero or positive, or `-errno`. Unlike
/// those of [Kernel], one instance serves any number of threads.
public interface MemoryCalls {
    /// Maps zeroed memory, private to the process, readable and writable.
    ///
    /// @return its address, or `-errno`
    long map(long bytes);

    int unmap(long address, long bytes);

    /// Gives the memory behind an address range back to the system. The range stays mapped; what is
    /// read there next is zero or what was there before.
    int discard(long address, long bytes);
}
