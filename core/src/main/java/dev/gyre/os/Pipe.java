package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.FdPair;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollSyscalls;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.io.Descriptor;

import java.util.function.Supplier;

/// A pipe: what is written to one end can be read from the other. Neither end blocks, and no child process
/// inherits them unasked.
public final class Pipe implements AutoCloseable {
    private final Descriptor reader;
    private final Descriptor writer;

    private Pipe(Descriptor reader, Descriptor writer) {
        this.reader = reader;
        this.writer = writer;
    }

    /// Opens a pipe.
    ///
    /// @throws SystemCallException if the kernel refuses
    public static Pipe open() {
        return open(LinuxPollSyscalls::ofThread);
    }

    static Pipe open(Supplier<? extends PollSyscalls> kernels) {
        FdReaper.reclaim(); // Numbers may have run out.
        FdPair pair = new FdPair();
        int result = kernels.get().pipe2(pair.address(), Linux.O_NONBLOCK | Linux.O_CLOEXEC);
        if (result < 0) {
            throw new SystemCallException("pipe2", -result, SystemCallException.NO_FD);
        }
        return new Pipe(
                OpenDescriptor.fresh(kernels, pair.first(), true),
                OpenDescriptor.fresh(kernels, pair.second(), true));
    }

    /// The end to read from. It ends when the other one is closed and everything has been read.
    public Descriptor reader() {
        return reader;
    }

    /// The end to write to. Writing fails with EPIPE once the other one is closed.
    public Descriptor writer() {
        return writer;
    }

    /// Closes both ends.
    @Override
    public void close() {
        reader.close();
        writer.close();
    }
}
