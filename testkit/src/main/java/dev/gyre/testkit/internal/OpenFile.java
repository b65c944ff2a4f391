package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import java.util.ArrayList;
import java.util.List;

/// What a descriptor's number stands for, as Linux has it: several numbers may stand for one. It knows what it
/// is ready for, and wakes whoever polls it when that may have changed.
///
/// All of it is guarded by the kernel's lock.
abstract sealed class OpenFile
        permits EventCounter, MemoryFile, PipeEnd, PollSet, SignalFile, SimulatedSocket {
    final SimulatedKernel kernel;

    /// Tells files apart without asking where they lie in memory.
    final long serial;

    int statusFlags;
    private int references;
    private final List<PollSet.Item> polledBy = new ArrayList<>(1);

    OpenFile(SimulatedKernel kernel, int statusFlags) {
        this.kernel = kernel;
        this.statusFlags = statusFlags;
        serial = kernel.nextSerial();
    }

    /// What is so at this instant: bits of `EPOLLIN` and the like, whether anybody asks or not.
    abstract int ready();

    /// Reads into the beginning of an array.
    long read(byte[] into, int length) {
        return -Errno.EINVAL;
    }

    /// Writes from an array, which the caller may change afterwards.
    long write(byte[] from, int length) {
        return -Errno.EINVAL;
    }

    /// How many bytes can be read at once, of a stream; -1 for what has messages or is no stream, so that no
    /// call of it may be cut short.
    int available() {
        return -1;
    }

    /// How many bytes a write would take now; -1 if it would fail.
    int room() {
        return -1;
    }

    /// The last number that stood for it is closed.
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

    /// Something has happened that may have made it ready.
    ///
    /// @param key what for, in bits of `EPOLLIN` and the like; zero if it is not said
    void wake(int key) {
        for (PollSet.Item item : polledBy) {
            item.woken(key);
        }
    }
}
