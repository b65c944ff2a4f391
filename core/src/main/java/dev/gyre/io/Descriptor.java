package dev.gyre.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.FileOpens;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.LinuxPollCalls;

import java.nio.ByteBuffer;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/// Identifies an open file descriptor: its number and its generation.
///
/// The kernel reuses the number of a closed descriptor. The *generation* is unique, so a closed
/// descriptor stays closed, and its methods never affect the new owner of the number.
///
/// **Closing** deregisters all watchers in all loops before the number is freed. An unreachable
/// descriptor is closed too, some time after the garbage collector detects it: at the next tick of
/// a loop, or when the next descriptor is opened. Keep a reference while you use the bare number or
/// watch the descriptor. Close it explicitly if the time matters.
///
/// **Threads.** Any. [#close()] does not wait. Reads and writes in progress continue, and the
/// number is freed when the last of them returns. A blocking read is not interrupted. The loop
/// thread cancels pending operations; while no thread runs the loop, the next run does. A callback
/// that starts while another thread closes the descriptor still runs, and finds it closed. Close it
/// on the loop thread ([dev.gyre.EventLoop#submit]) where that matters.
///
/// **Exceptions.** All methods that use the number throw a [ClosedDescriptorException] if the
/// descriptor is closed, and a [SystemCallException] if the kernel refuses.
public sealed interface Descriptor extends AutoCloseable permits OpenDescriptor {

    /// The result of [#read] at the end of input.
    int END = -1;

    /// Wraps an open descriptor and becomes its owner: closing this closes the number. It must have
    /// no other owner.
    ///
    /// @throws IllegalArgumentException if the number is negative
    /// @throws SystemCallException if the number is not open
    static Descriptor own(int fd) {
        return OpenDescriptor.of(LinuxPollCalls::ofThread, fd, true);
    }

    /// Wraps an open descriptor of another owner: closing this deregisters watchers and leaves the
    /// number open. The owner must not close it before.
    ///
    /// @throws IllegalArgumentException if the number is negative
    /// @throws SystemCallException if the number is not open
    static Descriptor borrow(int fd) {
        return OpenDescriptor.of(LinuxPollCalls::ofThread, fd, false);
    }

    /// Opens a file on the calling thread, which may wait for the disk. On a loop thread, use
    /// [dev.gyre.io.operation.Operations#open], with the same options. Opening a pipe does not wait
    /// for its other end. Child processes do not inherit the descriptor.
    ///
    /// @throws UnsupportedOperationException for unsupported options
    static Descriptor open(Path path, OpenOption... options) {
        return FileOpens.open(path, options);
    }

    /// Returns the maximum number of open descriptors of the process, as in `ulimit -n`; -1 if
    /// unknown.
    static long limit() {
        return DescriptorLimit.openFiles().current();
    }

    /// Returns the number.
    ///
    /// @throws ClosedDescriptorException if closed: the number may have a new owner
    int fd();

    /// Returns the generation. No two descriptors of this JVM have the same number and generation.
    int generation();

    /// Returns whether the descriptor is open.
    boolean isOpen();

    /// Sets `O_NONBLOCK`, so that reads and writes return instead of waiting. Affects all
    /// descriptors that share the open file, also in other processes. Descriptors that Gyre opens
    /// have it set.
    ///
    /// @return this descriptor
    Descriptor nonBlocking();

    /// Reads available bytes with one system call, at most the remaining bytes of the buffer.
    /// Direct buffers are filled in place. Heap buffers are copied, at most 64 KiB per call. The
    /// arena of a buffer must not be closed meanwhile. For streams: an empty datagram looks like
    /// the end.
    ///
    /// @return the number of bytes; 0 if none are available or the buffer is full; [#END] at the
    ///     end
    int read(ByteBuffer buffer);

    /// Writes as many bytes of the buffer as the kernel accepts, with one system call.
    ///
    /// @return the number of bytes; 0 if none are accepted or the buffer is empty
    /// @throws SystemCallException if the kernel refuses; EPIPE if no reader is left
    int write(ByteBuffer buffer);

    /// Deregisters all watchers, and closes the number if it is owned. Idempotent.
    @Override
    void close();
}
