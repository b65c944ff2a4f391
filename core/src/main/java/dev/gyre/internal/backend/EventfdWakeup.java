package dev.gyre.internal.backend;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;

import java.lang.foreign.MemorySegment;

/// An eventfd. It is registered edge-triggered and never read: every write is a new edge, so a
/// read would only cost a system call. *Drained* therefore means that the kernel has reported the
/// edge.
public final class EventfdWakeup implements Wakeup {
    private final PollSyscalls kernel;
    private final int fd;
    private final MemorySegment counter = Memory.allocate(Long.BYTES);

    public EventfdWakeup(PollSyscalls kernel, int fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    @Override
    public String call() {
        return "write(eventfd)";
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public int trigger() {
        long address = counter.address();
        while (true) {
            Memory.putLong(address, 1);
            long result = kernel.write(fd, address, Long.BYTES);
            if (result != -Errno.EAGAIN) {
                return result == Long.BYTES ? 0 : (int) result;
            }
            // The counter is full, after 2^64 - 2 wake-ups that nobody read: empty it.
            kernel.read(fd, address, Long.BYTES);
        }
    }

    @Override
    public void close() {
        kernel.close(fd);
    }
}
