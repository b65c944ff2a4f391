package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.os.Pipe;

import java.util.function.Supplier;

/// A pipe of this process.
public record OpenPipe(OpenDescriptor reader, OpenDescriptor writer) implements Pipe {
    public static Pipe open() {
        return open(LinuxPollCalls::ofThread, Linux.O_NONBLOCK);
    }

    /// Opens a pipe that no child inherits.
    ///
    /// @param flags `O_NONBLOCK` or none
    public static OpenPipe open(Supplier<? extends PollCalls> kernels, int flags) {
        FdReaper.reclaim(); // Descriptors may have run out.
        FdPair pair = new FdPair();
        int result = kernels.get().pipe2(pair.address(), flags | Linux.O_CLOEXEC);
        Errno.require("pipe2", result, SystemCallException.NO_FD);
        return new OpenPipe(
                OpenDescriptor.fresh(kernels, pair.first(), true),
                OpenDescriptor.fresh(kernels, pair.second(), true));
    }

    @Override
    public void close() {
        reader.close();
        writer.close();
    }
}
