package dev.gyre.internal.backend;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;

import java.lang.foreign.MemorySegment;

/// Wakes the loop by an eventfd. It is registered edge-triggered and never read: every write is a
/// new edge, so a read would only cost a system call. *Drained* therefore means that the kernel has
/// reported the edge.
public final class EventfdWakeup extends Wakeup {
    private final PollCalls calls;
    private final int fd;
    private final MemorySegment counter = Memory.allocate(Long.BYTES);

    public EventfdWakeup(PollCalls calls, int fd) {
        this.calls = calls;
        this.fd = fd;
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    protected String call() {
        return "write(eventfd)";
    }

    @Override
    protected int trigger() {
        long address = counter.address();
        while (true) {
            Memory.putLong(address, 1);
            long result = calls.write(fd, address, Long.BYTES);
            if (result != -Errno.EAGAIN) {
                return result == Long.BYTES ? 0 : (int) result;
            }
            // The counter is full, after 2^64 - 2 wake-ups without a read: empty it.
            calls.read(fd, address, Long.BYTES);
        }
    }

    @Override
    protected void release() {
        calls.close(fd);
    }
}
