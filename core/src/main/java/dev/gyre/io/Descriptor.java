package dev.gyre.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.OpenFiles;
import dev.gyre.internal.sys.Limits;
import dev.gyre.internal.sys.LinuxPollSyscalls;

import java.nio.ByteBuffer;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/// A descriptor of the kernel's: a number, and which opening of that number it is.
///
/// The kernel gives a number that was closed to the next one who opens something. A descriptor therefore
/// carries a *generation* that no other has: once closed it stays closed, and nothing that is done with
/// it can touch whoever has the number now.
///
/// Closing ends all watching of it, in every loop, before the number is given back. A descriptor that is
/// no longer reachable is closed too, some time after the garbage collector has noticed: when a loop next
/// ticks or the next descriptor is opened. Close it yourself when it matters when. So do not use the bare
/// number while nobody holds the descriptor, and hold it while you want to hear of it.
///
/// **Threads.** All methods may be called from any thread. A close waits for nobody: reads and writes that
/// are under way go on, and the number is given back when the last of them is through; a read that
/// blocks is not woken by it. What operations are pending on it is cancelled by the loop thread, or, while no thread runs
/// the loop, by the next that does. A callback that the loop is just beginning when another thread closes the
/// descriptor still runs, and finds it closed; close it on the loop thread ([dev.gyre.EventLoop#submit])
/// where that matters.
public sealed interface Descriptor extends AutoCloseable permits OpenDescriptor {

    /// The end of input, as told by [#read].
    int END = -1;

    /// Takes over an open descriptor: closing this closes the number. It must have no other owner.
    ///
    /// @throws IllegalArgumentException if the number is negative
    /// @throws SystemCallException if no such descriptor is open
    static Descriptor own(int fd) {
        return OpenDescriptor.of(LinuxPollSyscalls::ofThread, fd, true);
    }

    /// Uses an open descriptor that belongs to somebody else: closing this ends watching and leaves the
    /// number open. The owner must not close it before.
    ///
    /// @throws IllegalArgumentException if the number is negative
    /// @throws SystemCallException if no such descriptor is open
    static Descriptor borrow(int fd) {
        return OpenDescriptor.of(LinuxPollSyscalls::ofThread, fd, false);
    }

    /// Opens a file, on the calling thread, which may have to wait for the disk: a loop's thread uses [dev.gyre.io.operation.Operations#open], with the
    /// same options. A pipe is opened without waiting for its other end. No child process inherits it.
    ///
    /// @throws SystemCallException if the kernel refuses
    /// @throws UnsupportedOperationException for other options
    static Descriptor open(Path path, OpenOption... options) {
        return OpenFiles.open(path, options);
    }

    /// Returns the maximum number of open descriptors of the process, as in `ulimit -n`; -1 if
    /// unknown.
    static long limit() {
        return Limits.openFiles().current();
    }

    /// The number.
    ///
    /// @throws ClosedDescriptorException if it is closed: the number may be somebody else's by now
    int fd();

    /// Which opening of the number this is: no two descriptors of this JVM have both the same.
    int generation();

    /// Whether it has not been closed yet.
    boolean isOpen();

    /// Makes calls return instead of waiting: reads and writes of this descriptor, and of all others
    /// that share its open file, in other processes too. What Gyre opens itself is so already.
    ///
    /// @return this descriptor
    /// @throws ClosedDescriptorException if it is closed
    Descriptor nonBlocking();

    /// Reads what is there, at most what the buffer has room for, with one call to the kernel. Direct
    /// buffers are filled in place; others cost a copy, of at most 64 KiB a call. A buffer that belongs
    /// to an arena must not be closed meanwhile. Meant for streams: an empty datagram looks like the end.
    ///
    /// @return the number of bytes; 0 if none are there now, or the buffer has no room; [#END] at the end
    /// @throws ClosedDescriptorException if it is closed
    /// @throws SystemCallException if the kernel refuses
    int read(ByteBuffer buffer);

    /// Writes as much of the buffer as is taken, with one call to the kernel.
    ///
    /// @return the number of bytes; 0 if none are taken now, or the buffer is empty
    /// @throws ClosedDescriptorException if it is closed
    /// @throws SystemCallException if the kernel refuses; EPIPE if nobody is left to read
    int write(ByteBuffer buffer);

    /// Ends all watching of it and, if it is owned, gives the number back. Idempotent.
    @Override
    void close();
}
