package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileStatus;
import dev.gyre.internal.sys.Inputs;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxInputs;
import dev.gyre.internal.sys.LinuxPollSyscalls;
import dev.gyre.internal.sys.LinuxTerminals;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.Reception;
import dev.gyre.internal.sys.TerminalSettings;
import dev.gyre.internal.sys.Terminals;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/// An inherited descriptor to read from, without a change that others who share it would notice.
///
/// What blocks and what does not is a property of the open file, which standard input shares with
/// the shell and every other process of the same terminal: making it non-blocking breaks them.
/// So:
///
/// - a terminal or pipe is opened once more, which gives an open file of our own, non-blocking;
/// - a socket cannot be opened again, but can be received from without waiting, call by call;
/// - a regular file must not be opened again, for its position is to move on for others too. It
///   never blocks for long, and cannot be polled;
/// - for all else, and where opening is refused, the descriptor itself is read once each time
///   that the kernel has said there is something: then a read does not wait.
///
/// Loop thread only.
final class InputSource {
    /// How the system is called.
    record Calls(Supplier<? extends PollSyscalls> kernels, Inputs inputs, Terminals terminals) {
        static Calls real() {
            return new Calls(LinuxPollSyscalls::ofThread, new LinuxInputs(), new LinuxTerminals());
        }
    }

    private final Inputs inputs;

    /// Null if there is nothing open to read from.
    private final @Nullable Descriptor descriptor;

    private final boolean socket;
    private final boolean neverWaits;

    private InputSource(
            Inputs inputs, @Nullable Descriptor descriptor, boolean socket, boolean neverWaits) {
        this.inputs = inputs;
        this.descriptor = descriptor;
        this.socket = socket;
        this.neverWaits = neverWaits;
    }

    /// @throws SystemCallException if it is open, but not for reading
    static InputSource of(Calls calls, int fd) {
        PollSyscalls kernel = calls.kernels().get();
        Inputs inputs = calls.inputs();
        int mode = kernel.fcntl(fd, Linux.F_GETFL, 0);
        if (mode == -Errno.EBADF || isClassLibrary(fd)) {
            return new InputSource(inputs, null, false, false);
        }
        if (mode < 0) {
            throw new SystemCallException("fcntl(F_GETFL)", -mode, fd);
        }
        if ((mode & Linux.O_ACCMODE) == Linux.O_WRONLY) {
            // Said now: a pipe opened again would let us read what is not meant for us.
            throw new SystemCallException("read", Errno.EBADF, fd);
        }
        FileStatus status = new FileStatus();
        // Where the call is not allowed, as in some sandboxes, it is of no known sort.
        int _ = status.readFrom(inputs, fd);
        int own = mayOpenAgain(calls, status, fd) ? openAgain(inputs, fd) : -Errno.ENOSYS;
        return own >= 0
                ? new InputSource(
                        inputs, OpenDescriptor.fresh(calls.kernels(), own, true), false, true)
                : new InputSource(
                        inputs,
                        OpenDescriptor.fresh(calls.kernels(), fd, false),
                        status.isSocket(),
                        false);
    }

    /// A JVM that was started without standard input has opened its class library under the free
    /// number.
    private static boolean isClassLibrary(int fd) {
        Path library = Path.of(System.getProperty("java.home", ""), "lib", "modules");
        try {
            return fd == 0 && Files.isSameFile(Path.of("/proc/self/fd/0"), library);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean mayOpenAgain(Calls calls, FileStatus status, int fd) {
        return status.isFifo()
                || (status.isCharacterDevice()
                        && !status.isTerminalFactory()
                        && new TerminalSettings().readFrom(calls.terminals(), fd) == 0);
    }

    /// Refused after a change of user (EACCES), on a terminal that somebody has for himself
    /// (EBUSY), without `/proc` (ENOENT): whatever it is, there is the other way.
    private static int openAgain(Inputs inputs, int fd) {
        return inputs.open(
                "/proc/self/fd/" + fd,
                Linux.O_RDONLY | Linux.O_NONBLOCK | Linux.O_CLOEXEC | Linux.O_NOCTTY);
    }

    /// What to watch; null if there is nothing open.
    @Nullable Descriptor descriptor() {
        return descriptor;
    }

    /// Whether it can be read although the kernel has not said that there is something.
    boolean neverWaits() {
        return neverWaits;
    }

    /// Reads once.
    ///
    /// @return like [Descriptor#read]
    int read(ByteBuffer buffer) {
        if (descriptor == null) {
            return Descriptor.END;
        }
        return socket
                ? Reception.receive(inputs, descriptor.fd(), buffer)
                : descriptor.read(buffer);
    }

    void close() {
        if (descriptor != null) {
            descriptor.close();
        }
    }
}
