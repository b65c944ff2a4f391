package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.os.RawTerminal;
import dev.gyre.io.Descriptor;

import java.util.Optional;

/// The terminal that the program was started on, if any.
///
/// ```java
/// if (Terminal.isTerminal(Terminal.Standard.INPUT)) {
///     try (var _ = Terminal.raw()) {
///         loop.run(); // StandardInput delivers every key
///     }
/// }
/// ```
///
/// **Threads.** All methods may be called from any thread.
public final class Terminal {
    private Terminal() {}

    /// The standard descriptors of a process.
    public enum Standard {
        /// Descriptor 0.
        INPUT(0),
        /// Descriptor 1.
        OUTPUT(1),
        /// Descriptor 2.
        ERROR(2);

        private final int fd;

        Standard(int fd) {
            this.fd = fd;
        }
    }

    /// The size of a terminal in characters; both are positive.
    public record Size(int columns, int rows) {}

    /// Returns whether the stream is a terminal; false if it is not open.
    public static boolean isTerminal(Standard stream) {
        return RawTerminal.isTerminal(stream.fd);
    }

    /// Returns whether the descriptor is a terminal.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if the descriptor is closed
    public static boolean isTerminal(Descriptor descriptor) {
        return RawTerminal.isTerminal(descriptor);
    }

    /// Returns the size of the first terminal among standard output, standard error and standard
    /// input. Empty if none of them is a terminal, or its size is unknown, as on a serial line.
    public static Optional<Size> size() {
        return RawTerminal.sizeOf(Standard.OUTPUT.fd)
                .or(() -> RawTerminal.sizeOf(Standard.ERROR.fd))
                .or(() -> RawTerminal.sizeOf(Standard.INPUT.fd));
    }

    /// Returns the size of this terminal. Empty if the descriptor is not a terminal, or its size is
    /// unknown.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if the descriptor is closed
    public static Optional<Size> size(Descriptor descriptor) {
        return RawTerminal.sizeOf(descriptor.fd());
    }

    /// Sets the terminal of standard input to raw mode: each key arrives at once, unprocessed and
    /// without echo. Ctrl-C then arrives as a byte of value 3 and terminates nothing. Output lines
    /// need a carriage return.
    ///
    /// @return a handle whose close restores the settings; the JVM restores them at exit too,
    ///     unless it is killed
    /// @throws SystemCallException if standard input is not a terminal (ENOTTY), or the kernel
    ///     refuses
    /// @throws IllegalStateException if the JVM is exiting
    public static Raw raw() {
        return raw(Descriptor.borrow(Standard.INPUT.fd));
    }

    /// Sets any terminal to raw mode. The descriptor must stay open until the settings are
    /// restored. Throws like [#raw()].
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if the descriptor is closed
    public static Raw raw(Descriptor descriptor) {
        return RawTerminal.open(descriptor);
    }

    /// A terminal in raw mode until this is closed.
    public sealed interface Raw extends AutoCloseable permits RawTerminal {
        /// Restores the previous settings, unless the terminal has other open handles: then the
        /// last one does. Does nothing if the descriptor was closed meanwhile. Idempotent.
        ///
        /// @throws SystemCallException if the kernel refuses, as for a terminal that is gone (EIO)
        @Override
        void close();
    }
}
