package dev.gyre.internal.os;

import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Command;
import dev.gyre.os.Stdio;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/// The pipes to the standard streams of a child. The child's ends block, as programs expect; the
/// parent's ends do not. The two ends of a pipe are separate open files with separate modes.
///
/// No end has a number below 3, even if this process has closed a standard stream. The child's
/// streams are moved to those numbers one after the other, and a move would overwrite an end that
/// is still to be moved.
///
/// Loop thread only.
final class ChildStdio {
    static final int COUNT = 3;

    private static final String[] NAMES = {"input", "output", "error"};

    private final Supplier<? extends PollCalls> kernels;
    // Null for a stream that is not a pipe.
    private final @Nullable Descriptor[] parentEnds = new @Nullable Descriptor[COUNT];
    final @Nullable Descriptor[] childEnds = new @Nullable Descriptor[COUNT];
    private final List<Descriptor> all = new ArrayList<>();

    /// Creates one without pipes, for an adopted process.
    ChildStdio(Supplier<? extends PollCalls> kernels) {
        this.kernels = kernels;
    }

    /// Opens the pipes of a command; if one cannot be opened, none stays open.
    static ChildStdio open(Supplier<? extends PollCalls> kernels, Command command) {
        ChildStdio stdio = new ChildStdio(kernels);
        try {
            Stdio[] wanted = {command.input(), command.output(), command.error()};
            for (int stream = 0; stream < COUNT; stream++) {
                boolean merged = stream == 2 && command.errorToOutput();
                if (wanted[stream] == Stdio.PIPE && !merged) {
                    stdio.open(stream);
                }
            }
            return stdio;
        } catch (Throwable e) {
            stdio.closeAll();
            throw e;
        }
    }

    private void open(int stream) {
        OpenPipe pipe = OpenPipe.open(kernels, 0);
        Descriptor reader = add(pipe.reader());
        Descriptor writer = add(pipe.writer());
        reader = aboveStandard(reader);
        writer = aboveStandard(writer);
        boolean childReads = stream == 0;
        childEnds[stream] = childReads ? reader : writer;
        parentEnds[stream] = (childReads ? writer : reader).nonBlocking();
    }

    private Descriptor aboveStandard(Descriptor end) {
        if (end.fd() >= COUNT) {
            return end;
        }
        int fd = kernels.get().fcntl(end.fd(), Linux.F_DUPFD_CLOEXEC, COUNT);
        Errno.require("fcntl(F_DUPFD_CLOEXEC)", fd, end.fd());
        end.close();
        return add(OpenDescriptor.fresh(kernels, fd, true));
    }

    private Descriptor add(OpenDescriptor end) {
        // The process, or one that it started, may outlive its handle. Its output must not be lost
        // while only the loop still watches the pipe.
        Descriptor descriptor = end.heldWhileWatched();
        all.add(descriptor);
        return descriptor;
    }

    /// @throws IllegalStateException if the stream is not a pipe
    Descriptor parentEnd(int stream) {
        Descriptor end = parentEnds[stream];
        if (end == null) {
            throw new IllegalStateException(
                    "standard "
                            + NAMES[stream]
                            + " of this process is not a pipe: start it with Stdio.PIPE there");
        }
        return end;
    }

    /// Closes the child's ends once the child has them. While the parent also holds them, neither
    /// side sees the other one close.
    void closeChildEnds() {
        for (Descriptor end : childEnds) {
            if (end != null) {
                end.close();
            }
        }
    }

    void closeAll() {
        all.forEach(Descriptor::close);
    }
}
