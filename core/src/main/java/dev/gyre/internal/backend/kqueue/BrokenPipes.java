package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.backend.Registrations;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/// Reports the error of pipe writers whose reader was closed before they were registered. The BSDs
/// refuse to watch them, with `EPIPE`; Linux watches them and reports an error at once.
///
/// There is at most one per registered descriptor.
final class BrokenPipes {
    private record BrokenPipe(long udata, boolean repeats) {}

    private final Runnable wake;

    // Shared: guarded by this. The loop reads `isEmpty` without the lock.
    private final Map<Integer, BrokenPipe> byFd = new LinkedHashMap<>();
    private volatile boolean isEmpty = true;

    /// @param wake makes the loop poll
    BrokenPipes(Runnable wake) {
        this.wake = wake;
    }

    /// @param repeats whether each poll reports it while it is registered, or only the first
    void add(long udata, boolean repeats) {
        synchronized (this) {
            byFd.put(Registrations.fdOf(udata), new BrokenPipe(udata, repeats));
            isEmpty = false;
        }
        wake.run();
    }

    void remove(int fd) {
        if (!isEmpty) {
            synchronized (this) {
                byFd.remove(fd);
                isEmpty = byFd.isEmpty();
            }
        }
    }

    /// Returns whether nothing is to report, so that the loop may wait. Loop thread only.
    boolean isEmpty() {
        return isEmpty;
    }

    /// Adds the events to a batch. Loop thread only.
    void report(EventBatch batch) {
        if (isEmpty) {
            return;
        }
        synchronized (this) {
            for (BrokenPipe pipe : new ArrayList<>(byFd.values())) {
                if (!batch.hasRoom()) {
                    break;
                }
                batch.addBrokenPipe(pipe.udata);
                int fd = Registrations.fdOf(pipe.udata);
                byFd.remove(fd);
                if (pipe.repeats) {
                    byFd.put(fd, pipe); // Behind those that found no room.
                }
            }
            isEmpty = byFd.isEmpty();
        }
    }
}
