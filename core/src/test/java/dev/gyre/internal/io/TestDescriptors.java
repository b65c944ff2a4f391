package dev.gyre.internal.io;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.io.Descriptor;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Opens real descriptors of kinds that the library does not open, and helpers to use them.
public final class TestDescriptors {
    private static final int F_DUPFD_CLOEXEC = 1030;

    private TestDescriptors() {}

    /// Two connected sockets, non-blocking.
    public static List<Descriptor> sockets() {
        FdPair pair = new FdPair();
        require(
                new LinuxPollCalls()
                        .socketpair(
                                Linux.AF_UNIX,
                                Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC,
                                0,
                                pair.address()));
        return List.of(Descriptor.own(pair.first()), Descriptor.own(pair.second()));
    }

    /// An eventfd: readable if the count is not zero.
    public static Descriptor eventfd(int count) {
        int flags = Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK;
        return Descriptor.own(require(new LinuxPollCalls().eventfd(count, flags)));
    }

    /// Duplicates a descriptor.
    public static Descriptor duplicate(Descriptor descriptor) {
        int fd = new LinuxPollCalls().fcntl(descriptor.fd(), F_DUPFD_CLOEXEC, 0);
        return Descriptor.own(require(fd));
    }

    public static void write(Descriptor descriptor, String text) {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        int written = descriptor.write(bytes);
        if (bytes.hasRemaining()) {
            throw new AssertionError("only " + written + " bytes were taken");
        }
    }

    /// Reads up to a kilobyte; returns `end` at the end, and an empty string without input.
    public static String read(Descriptor descriptor) {
        ByteBuffer bytes = ByteBuffer.allocate(1024);
        int count = descriptor.read(bytes);
        if (count == Descriptor.END) {
            return "end";
        }
        return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    }

    private static int require(int result) {
        if (result < 0) {
            throw new AssertionError("the kernel refused: " + Errno.name(-result));
        }
        return result;
    }
}
