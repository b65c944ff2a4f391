package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import java.util.ArrayList;
import java.util.List;

/// An open file description, as on Linux: several descriptors may refer to it. It knows its
/// readiness, and wakes its pollers when that may have changed.
///
/// Guarded by the kernel's lock.
abstract sealed class OpenFile
        permits EventCounter, MemoryFile, PipeEnd, PollSet, SignalFile, SimulatedSocket {
    final SimulatedKernel kernel;

    /// Identifies the file in an order that does not depend on memory addresses.
    final long serial;

    int statusFlags;
    private int references;
    private final List<PollSet.Item> polledBy = new ArrayList<>(1);

    OpenFile(SimulatedKernel kernel, int statusFlags) {
        this.kernel = kernel;
        this.statusFlags = statusFlags;
        serial = kernel.nextSerial();
    }

    /// Returns the current readiness in bits such as `EPOLLIN`.
    abstract int ready();

    /// Reads into the start of an array.
    long read(byte[] into, int length) {
        return -Errno.EINVAL;
    }

    /// Writes from an array. The caller may change it afterwards.
    long write(byte[] from, int length) {
        return -Errno.EINVAL;
    }

    /// Returns the number of bytes that can be read from a stream; -1 for messages and other files,
    /// whose reads are never short.
    int available() {
        return -1;
    }

    /// Returns the number of bytes that a write accepts now; -1 if it would fail.
    int room() {
        return -1;
    }

    /// Called when the last descriptor is closed.
    abstract void closed();

    boolean isPollable() {
        return true;
    }

    boolean isBlocking() {
        return (statusFlags & Linux.O_NONBLOCK) == 0;
    }

    final void retain() {
        references++;
    }

    final void release() {
        if (--references == 0) {
            for (PollSet.Item item : List.copyOf(polledBy)) {
                item.set().forget(item);
            }
            closed();
        }
    }

    final void polled(PollSet.Item item) {
        polledBy.add(item);
    }

    final void unpolled(PollSet.Item item) {
        polledBy.remove(item);
    }

    /// Wakes pollers after a change.
    ///
    /// @param key the possible readiness in bits such as `EPOLLIN`; zero if unknown
    void wake(int key) {
        for (PollSet.Item item : polledBy) {
            item.woken(key);
        }
    }
}
