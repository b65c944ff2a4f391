package dev.gyre.internal.loop;

import dev.gyre.BackendKind;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.backend.uring.UringBackend;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.Seam;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.function.Supplier;

/// Chooses a loop's backend, clause B-2, and is alone in knowing which there are.
final class Backends {
    static final String PROPERTY = "gyre.backend";

    private static final System.Logger LOG = System.getLogger("dev.gyre");

    /// A backend, and why it is not the one that was asked for.
    record Choice(Backend backend, Optional<String> fallback) {}

    private Backends() {}

    /// Opens what the configuration asks for, else what the system property names, else what is best
    /// here.
    ///
    /// @throws IllegalArgumentException if the property names no backend
    /// @throws SystemCallException if the kernel refuses that also which it has everywhere
    static Choice open(LoopConfig config) {
        return open(
                config,
                System.getProperty(PROPERTY),
                () -> UringBackend.open(Seam.LINUX, new LinuxUringCalls(), config.eventsPerWait()));
    }

    static Choice open(
            LoopConfig config, @Nullable String property, Supplier<? extends Backend> uring) {
        BackendKind wanted =
                config.backend()
                        .orElseGet(() -> property == null ? BackendKind.EPOLL : named(property));
        return switch (wanted) {
            case EPOLL -> new Choice(epoll(config), Optional.empty());
            case IO_URING -> uringOrEpoll(config, uring);
        };
    }

    private static Choice uringOrEpoll(LoopConfig config, Supplier<? extends Backend> uring) {
        try {
            return new Choice(uring.get(), Optional.empty());
        } catch (SystemCallException e) {
            String why = "io_uring is refused: " + e.getMessage();
            Backend instead = epoll(config);
            LOG.log(Level.WARNING, "loop " + config.name() + " waits on epoll: " + why);
            return new Choice(instead, Optional.of(why));
        }
    }

    private static Backend epoll(LoopConfig config) {
        return EpollBackend.open(Seam.LINUX, config.eventsPerWait());
    }

    private static BackendKind named(String property) {
        try {
            return BackendKind.of(property);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "system property " + PROPERTY + ": " + e.getMessage(), e);
        }
    }
}
