package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.LinuxTerminals;
import dev.gyre.internal.sys.TerminalSettings;
import dev.gyre.internal.sys.Terminals;
import dev.gyre.internal.sys.WindowSize;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/// The terminal that the program was started on, if it was.
///
/// ```java
/// if (Terminal.isTerminal(Terminal.Standard.INPUT)) {
///     try (var _ = Terminal.raw()) {
///         loop.run(); // StandardInput hands over every key
///     }
/// }
/// ```
///
/// **Threads.** All methods may be called from any thread.
public final class Terminal {
    private Terminal() {}

    /// The descriptors that a program is started with.
    public enum Standard {
        /// Number 0.
        INPUT(0),
        /// Number 1.
        OUTPUT(1),
        /// Number 2.
        ERROR(2);

        private final int fd;

        Standard(int fd) {
            this.fd = fd;
        }
    }

    /// The size of a terminal, in characters; neither is zero.
    public record Size(int columns, int rows) {}

    /// Whether it is a terminal. One that is not open is none.
    public static boolean isTerminal(Standard stream) {
        return isTerminal(new LinuxTerminals(), stream.fd);
    }

    /// Whether it is a terminal.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if it is closed
    public static boolean isTerminal(Descriptor descriptor) {
        return ((OpenDescriptor) descriptor).use(fd -> isTerminal(new LinuxTerminals(), fd) ? 1 : 0)
                == 1;
    }

    private static boolean isTerminal(Terminals terminals, int fd) {
        return new TerminalSettings().readFrom(terminals, fd) == 0;
    }

    /// The size of the terminal that standard output is on, or else standard error, or else
    /// standard input. Empty if none is on a terminal, or the terminal does not know, as over a
    /// serial line.
    public static Optional<Size> size() {
        Terminals terminals = new LinuxTerminals();
        return sizeOf(terminals, Standard.OUTPUT.fd)
                .or(() -> sizeOf(terminals, Standard.ERROR.fd))
                .or(() -> sizeOf(terminals, Standard.INPUT.fd));
    }

    /// The size of this terminal. Empty if it is none, or does not know.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if it is closed
    public static Optional<Size> size(Descriptor descriptor) {
        return sizeOf(new LinuxTerminals(), descriptor.fd());
    }

    private static Optional<Size> sizeOf(Terminals terminals, int fd) {
        WindowSize size = new WindowSize();
        return size.readFrom(terminals, fd) == 0 && size.columns() > 0 && size.rows() > 0
                ? Optional.of(new Size(size.columns(), size.rows()))
                : Optional.empty();
    }

    /// Makes the terminal of standard input raw: each key comes at once, as it is, and is not
    /// shown. That includes Ctrl-C, which is then a byte of value 3 and ends nothing. Lines that
    /// are written need a carriage return.
    ///
    /// @return to be closed, which brings the settings back; otherwise that happens when the JVM
    ///     exits, unless it is killed
    /// @throws SystemCallException if standard input is not a terminal (ENOTTY), or the kernel
    ///     refuses
    /// @throws IllegalStateException if the JVM is exiting
    public static Raw raw() {
        return raw(Descriptor.borrow(Standard.INPUT.fd));
    }

    /// The same for any terminal. The descriptor has to stay open until the settings are back.
    ///
    /// @throws SystemCallException if it is not a terminal (ENOTTY), or the kernel refuses
    /// @throws IllegalStateException if the JVM is exiting
    /// @throws dev.gyre.io.ClosedDescriptorException if it is closed
    public static Raw raw(Descriptor descriptor) {
        return raw(LinuxTerminals::new, descriptor);
    }

    static Raw raw(Supplier<? extends Terminals> calls, Descriptor descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        Terminals terminals = calls.get();
        OpenDescriptor target = (OpenDescriptor) descriptor;
        synchronized (Raw.OPEN) {
            Raw.restoreAtExit();
            int number = target.fd(); // For messages: once raw, nothing may fail any more.
            String device = Raw.deviceOf(target);
            TerminalSettings before = Raw.settingsBefore(device);
            if (before == null) {
                TerminalSettings now = new TerminalSettings();
                require("tcgetattr", target.use(fd -> now.readFrom(terminals, fd)), number);
                before = now;
            }
            TerminalSettings raw = before.raw(terminals);
            require("tcsetattr", target.use(fd -> raw.writeTo(terminals, fd)), number);
            Raw opened = new Raw(calls, target, device, before);
            Raw.OPEN.addLast(opened);
            return opened;
        }
    }

    private static void require(String call, int result, int fd) {
        if (result < 0) {
            throw new SystemCallException(call, -result, fd);
        }
    }

    /// A terminal that is raw until this is closed.
    public static final class Raw implements AutoCloseable {
        // Shared: guarded by itself. Several may be for one terminal: they all know the settings
        // from
        // before the first, and the last one to be closed brings them back.
        private static final Deque<Raw> OPEN = new ArrayDeque<>();

        // Shared: guarded by OPEN.
        private static boolean hooked;
        private static boolean exiting;

        private final Supplier<? extends Terminals> calls;
        private final OpenDescriptor descriptor;
        private final String device;
        private final TerminalSettings before;

        private Raw(
                Supplier<? extends Terminals> calls,
                OpenDescriptor descriptor,
                String device,
                TerminalSettings before) {
            this.calls = calls;
            this.descriptor = descriptor;
            this.device = device;
            this.before = before;
        }

        /// Which terminal it is, whatever the number.
        private static String deviceOf(OpenDescriptor descriptor) {
            int fd = descriptor.fd();
            try {
                return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
            } catch (IOException e) {
                return "descriptor " + fd; // Without /proc a number stands for itself.
            }
        }

        private static @Nullable TerminalSettings settingsBefore(String device) {
            for (Raw raw : OPEN) {
                if (raw.device.equals(device)) {
                    return raw.before;
                }
            }
            return null;
        }

        private static void restoreAtExit() {
            if (exiting) {
                throw new IllegalStateException("the JVM is exiting: nobody would restore it");
            }
            if (!hooked) {
                Runtime.getRuntime().addShutdownHook(new Thread(Raw::exit, "gyre-terminal"));
                hooked = true;
            }
        }

        private static void exit() {
            synchronized (OPEN) {
                exiting = true;
            }
            restoreAll();
        }

        /// Brings back all that is still raw.
        static void restoreAll() {
            synchronized (OPEN) {
                for (Raw raw : OPEN) {
                    int _ = raw.restore();
                }
                OPEN.clear();
            }
        }

        /// Brings the settings back that were in force before, unless the terminal is raw for somebody
        /// else too: then the last one does. Does nothing if the descriptor was closed meanwhile.
        /// Idempotent.
        ///
        /// @throws SystemCallException if the kernel refuses, as for a terminal that is gone
        ///     (EIO)
        @Override
        public void close() {
            synchronized (OPEN) {
                if (OPEN.remove(this) && settingsBefore(device) == null) {
                    int result = restore();
                    if (result < 0) {
                        throw new SystemCallException(
                                "tcsetattr", -result, SystemCallException.NO_FD);
                    }
                }
            }
        }

        private int restore() {
            try {
                return descriptor.use(fd -> before.writeTo(calls.get(), fd));
            } catch (ClosedDescriptorException e) {
                return 0; // Whoever closed it has given the terminal up.
            }
        }
    }
}
