package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.FileCalls.FileType;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.internal.sys.TerminalSettings;
import dev.gyre.internal.sys.Transfer;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/// Reads an inherited descriptor without a side effect on other processes that share it.
///
/// Blocking mode is a property of the open file, which standard input shares with the shell and
/// every other process of the same terminal. Making it non-blocking breaks them. So:
///
/// - a terminal or pipe is reopened, which creates a separate, non-blocking open file;
/// - a socket cannot be reopened, but can be received from with a non-blocking flag per call;
/// - a regular file must not be reopened, since others share its position. It never blocks for
///   long, and cannot be polled;
/// - everything else, and a descriptor whose reopening is refused, is read once per readiness
///   event: then a read does not block.
///
/// Loop thread only.
final class InputSource {
    private final SyscallFactories calls;

    /// `null` if the descriptor is not open.
    final @Nullable Descriptor descriptor;

    private final boolean socket;

    /// Whether a read without prior readiness does not block.
    final boolean neverBlocks;

    private InputSource(
            SyscallFactories calls,
            @Nullable Descriptor descriptor,
            boolean socket,
            boolean neverBlocks) {
        this.calls = calls;
        this.descriptor = descriptor;
        this.socket = socket;
        this.neverBlocks = neverBlocks;
    }

    /// @throws SystemCallException if the descriptor is open, but not for reading
    static InputSource of(SyscallFactories calls, int fd) {
        int mode = calls.kernels().get().fcntl(fd, Linux.F_GETFL, 0);
        if (mode == -Errno.EBADF || isClassLibrary(fd)) {
            return new InputSource(calls, null, false, false);
        }
        Errno.require("fcntl(F_GETFL)", mode, fd);
        if ((mode & Linux.O_ACCMODE) == Linux.O_WRONLY) {
            // Checked now: reopening a write end for reading would steal the reader's bytes.
            throw new SystemCallException("read", Errno.EBADF, fd);
        }
        FileCalls files = calls.files().get();
        FileType type = FileType.of(files, fd);
        int reopened = mayReopen(files, type, fd) ? reopen(files, fd) : -Errno.ENOSYS;
        return reopened >= 0
                ? new InputSource(
                        calls, OpenDescriptor.fresh(calls.kernels(), reopened, true), false, true)
                : new InputSource(
                        calls,
                        OpenDescriptor.fresh(calls.kernels(), fd, false),
                        type.isSocket(),
                        false);
    }

    /// A JVM started without standard input has opened its class library under the free number.
    private static boolean isClassLibrary(int fd) {
        Path library = Path.of(System.getProperty("java.home", ""), "lib", "modules");
        try {
            return fd == 0 && Files.isSameFile(Path.of("/proc/self/fd/0"), library);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean mayReopen(FileCalls files, FileType type, int fd) {
        return type.isFifo()
                || (type.isCharacterDevice()
                        && !type.isTerminalMultiplexer()
                        && new TerminalSettings().readFrom(files, fd) == 0);
    }

    /// Refused after a change of user (EACCES), on a terminal in exclusive mode (EBUSY) and without
    /// `/proc` (ENOENT). Every refusal has the same fallback.
    private static int reopen(FileCalls files, int fd) {
        return files.open(
                "/proc/self/fd/" + fd,
                Linux.O_RDONLY | Linux.O_NONBLOCK | Linux.O_CLOEXEC | Linux.O_NOCTTY);
    }

    /// Reads like [Descriptor#read].
    int read(ByteBuffer buffer) {
        if (descriptor == null) {
            return Descriptor.END;
        }
        return socket
                ? Transfer.receive(calls.sockets().get(), descriptor.fd(), buffer)
                : descriptor.read(buffer);
    }

    void close() {
        if (descriptor != null) {
            descriptor.close();
        }
    }
}
