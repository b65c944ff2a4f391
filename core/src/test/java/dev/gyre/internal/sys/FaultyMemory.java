package dev.gyre.internal.sys;

import java.util.HashMap;
import java.util.Map;

/// The real memory calls, counted; the test chooses those to refuse.
public final class FaultyMemory implements MemoryCalls {
    private final MemoryCalls real = SyscallFactories.LINUX.memory();
    private final Map<Long, Long> mapped = new HashMap<>();
    private long firstRefused = Long.MAX_VALUE;
    private long lastRefused;
    private long maps;
    private long discarded;

    /// Refuses maps by number, counted from now on, the first being 1.
    public synchronized void refuse(long first, long last) {
        maps = 0;
        firstRefused = first;
        lastRefused = last;
    }

    /// Returns the number of mapped bytes.
    public synchronized long mapped() {
        return mapped.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Returns the number of discarded bytes.
    public synchronized long discarded() {
        return discarded;
    }

    /// Returns the number of maps since [#refuse].
    public synchronized long maps() {
        return maps;
    }

    @Override
    public synchronized long map(long bytes) {
        maps++;
        if (maps >= firstRefused && maps <= lastRefused) {
            return -Errno.ENOMEM;
        }
        long address = real.map(bytes);
        mapped.put(address, bytes);
        return address;
    }

    @Override
    public synchronized int unmap(long address, long bytes) {
        Long known = mapped.remove(address);
        if (known == null || known != bytes) {
            throw new AssertionError("unmapped twice, or not whole: " + bytes + " of " + known);
        }
        return real.unmap(address, bytes);
    }

    @Override
    public synchronized int discard(long address, long bytes) {
        discarded += bytes;
        return real.discard(address, bytes);
    }
}
