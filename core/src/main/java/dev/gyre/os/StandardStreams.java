package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.FdPair;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/// The pipes to the standard streams of one child. Its ends block, as programs expect, and ours do
/// not: the two ends of a pipe are two open files, each with its own mode.
///
/// No end is at a number below 3, where it would be if this process had closed a standard stream:
/// there the child's streams are put one after the other, and one would overwrite what is yet to
/// be moved.
final class StandardStreams {
    static final int COUNT = 3;

    private static final String[] NAMES = {"input", "output", "error"};

    private final Supplier<? extends PollSyscalls> kernels;
    private final @Nullable Descriptor[] ours = new @Nullable Descriptor[COUNT];
    private final @Nullable Descriptor[] theirs = new @Nullable Descriptor[COUNT];
    private final List<Descriptor> all = new ArrayList<>();

    private StandardStreams(Supplier<? extends PollSyscalls> kernels) {
        this.kernels = kernels;
    }

    /// None, as of a process that somebody else started.
    static StandardStreams none(Supplier<? extends PollSyscalls> kernels) {
        return new StandardStreams(kernels);
    }

    /// Opens what a command asks for, or nothing.
    static StandardStreams open(Supplier<? extends PollSyscalls> kernels, Command command) {
        StandardStreams streams = new StandardStreams(kernels);
        try {
            if (command.input() == Stdio.PIPE) {
                streams.open(0);
            }
            if (command.output() == Stdio.PIPE) {
                streams.open(1);
            }
            if (command.error() == Stdio.PIPE && !command.errorToOutput()) {
                streams.open(2);
            }
            return streams;
        } catch (Throwable e) {
            streams.closeAll();
            throw e;
        }
    }

    private void open(int stream) {
        FdPair pair = new FdPair();
        int result = kernels.get().pipe2(pair.address(), Linux.O_CLOEXEC);
        if (result < 0) {
            throw new SystemCallException("pipe2", -result, SystemCallException.NO_FD);
        }
        Descriptor reader = kept(pair.first());
        Descriptor writer = kept(pair.second());
        reader = raised(reader);
        writer = raised(writer);
        boolean childReads = stream == 0;
        theirs[stream] = childReads ? reader : writer;
        ours[stream] = (childReads ? writer : reader).nonBlocking();
    }

    private Descriptor raised(Descriptor end) {
        if (end.fd() >= COUNT) {
            return end;
        }
        int raised = kernels.get().fcntl(end.fd(), Linux.F_DUPFD_CLOEXEC, COUNT);
        if (raised < 0) {
            throw new SystemCallException("fcntl(F_DUPFD_CLOEXEC)", -raised, end.fd());
        }
        end.close();
        return kept(raised);
    }

    private Descriptor kept(int fd) {
        // A process may outlive its handle here, or another one that it started: what they write
        // is not to be lost because only the loop still watches.
        Descriptor descriptor = OpenDescriptor.fresh(kernels, fd, true).heldWhileWatched();
        all.add(descriptor);
        return descriptor;
    }

    /// The end that becomes a standard stream of the child; null if that is no pipe.
    @Nullable Descriptor theirs(int stream) {
        return theirs[stream];
    }

    /// Our end.
    ///
    /// @throws IllegalStateException if that stream is no pipe
    Descriptor ours(int stream) {
        Descriptor found = ours[stream];
        if (found == null) {
            throw new IllegalStateException(
                    "standard "
                            + NAMES[stream]
                            + " of this process is no pipe of ours: start it with Stdio.PIPE"
                            + " there");
        }
        return found;
    }

    /// Once the child has them. As long as we held them too, neither side would see the other's
    /// end.
    void closeTheirs() {
        for (Descriptor end : theirs) {
            if (end != null) {
                end.close();
            }
        }
    }

    void closeAll() {
        all.forEach(Descriptor::close);
    }
}
