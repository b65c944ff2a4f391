package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.LinuxFileCalls;
import dev.gyre.internal.sys.TerminalSettings;
import dev.gyre.internal.sys.TerminalSettings.WindowSize;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Terminal;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/// A terminal in raw mode, and the settings to restore.
public final class RawTerminal implements Terminal.Raw {
    // Shared: guarded by itself. Several entries may be for one terminal: all of them hold the
    // settings from before the first, and the last one to close restores them.
    private static final Deque<RawTerminal> OPEN = new ArrayDeque<>();

    // Shared: guarded by OPEN.
    private static boolean hooked;
    private static boolean exiting;

    private final Supplier<? extends FileCalls> calls;
    private final OpenDescriptor descriptor;
    private final String device;
    private final TerminalSettings before;

    private RawTerminal(
            Supplier<? extends FileCalls> calls,
            OpenDescriptor descriptor,
            String device,
            TerminalSettings before) {
        this.calls = calls;
        this.descriptor = descriptor;
        this.device = device;
        this.before = before;
    }

    public static boolean isTerminal(Descriptor descriptor) {
        return ((OpenDescriptor) descriptor).use(fd -> isTerminal(fd) ? 1 : 0) == 1;
    }

    public static boolean isTerminal(int fd) {
        return new TerminalSettings().readFrom(new LinuxFileCalls(), fd) == 0;
    }

    public static Optional<Terminal.Size> sizeOf(int fd) {
        WindowSize size = TerminalSettings.windowSize(new LinuxFileCalls(), fd);
        return size.columns() > 0 && size.rows() > 0
                ? Optional.of(new Terminal.Size(size.columns(), size.rows()))
                : Optional.empty();
    }

    public static Terminal.Raw open(Descriptor descriptor) {
        return open(LinuxFileCalls::new, descriptor);
    }

    public static Terminal.Raw open(Supplier<? extends FileCalls> supplier, Descriptor descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        FileCalls calls = supplier.get();
        OpenDescriptor target = (OpenDescriptor) descriptor;
        synchronized (OPEN) {
            restoreAtExit();
            int number = target.fd(); // For messages: nothing may fail once the terminal is raw.
            String device = deviceOf(target);
            TerminalSettings before = settingsBefore(device);
            if (before == null) {
                TerminalSettings now = new TerminalSettings();
                Errno.require("tcgetattr", target.use(fd -> now.readFrom(calls, fd)), number);
                before = now;
            }
            TerminalSettings raw = before.raw(calls);
            Errno.require("tcsetattr", target.use(fd -> raw.writeTo(calls, fd)), number);
            RawTerminal opened = new RawTerminal(supplier, target, device, before);
            OPEN.addLast(opened);
            return opened;
        }
    }

    /// Returns the path of the terminal, the same for all its descriptors.
    private static String deviceOf(OpenDescriptor descriptor) {
        int fd = descriptor.fd();
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
        } catch (IOException e) {
            return "descriptor " + fd; // Without /proc the number identifies it.
        }
    }

    private static @Nullable TerminalSettings settingsBefore(String device) {
        for (RawTerminal raw : OPEN) {
            if (raw.device.equals(device)) {
                return raw.before;
            }
        }
        return null;
    }

    private static void restoreAtExit() {
        if (exiting) {
            throw new IllegalStateException(
                    "the JVM is exiting: the terminal would not be restored");
        }
        if (!hooked) {
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(RawTerminal::onJvmExit, "gyre-terminal"));
            hooked = true;
        }
    }

    private static void onJvmExit() {
        synchronized (OPEN) {
            exiting = true;
        }
        restoreAll();
    }

    /// Restores all terminals that are still raw.
    public static void restoreAll() {
        synchronized (OPEN) {
            for (RawTerminal raw : OPEN) {
                int _ = raw.restore();
            }
            OPEN.clear();
        }
    }

    @Override
    public void close() {
        synchronized (OPEN) {
            if (OPEN.remove(this) && settingsBefore(device) == null) {
                Errno.require("tcsetattr", restore(), SystemCallException.NO_FD);
            }
        }
    }

    private int restore() {
        try {
            return descriptor.use(fd -> before.writeTo(calls.get(), fd));
        } catch (ClosedDescriptorException e) {
            return 0; // The terminal is no longer in use here.
        }
    }
}
