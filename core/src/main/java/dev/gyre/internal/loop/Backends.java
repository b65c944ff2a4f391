package dev.gyre.internal.loop;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.BackendKind;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.backend.kqueue.KqueueBackend;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.sys.BsdKqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.Platform;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.function.Supplier;

/// Chooses a loop's backend (clause B-2). The only class that knows all backends.
final class Backends {
    static final String PROPERTY = "gyre.backend";

    /// A backend, and why it is not the requested one.
    record Choice(Backend backend, Optional<String> fallback) {}

    private Backends() {}

    /// How to open each backend, and which is the default.
    record Openers(
            BackendKind defaultKind,
            Supplier<? extends Backend> epoll,
            Supplier<? extends Backend> uring,
            Supplier<? extends Backend> kqueue) {}

    /// Opens the first that is given of: the backend that the configuration sets, the one that the
    /// system property names, the one that the configuration prefers, the platform's default.
    ///
    /// @throws IllegalArgumentException if the property names no backend
    /// @throws UnsupportedOperationException if a Linux backend is requested on another system, or
    ///     a required backend is unavailable
    /// @throws SystemCallException if the kernel refuses the default backend
    static Choice open(LoopConfig config) {
        Platform.caveat()
                .ifPresent(why -> LOG.log(Level.WARNING, "loop " + config.name() + ": " + why));
        return open(config, System.getProperty(PROPERTY), openersHere(config));
    }

    private static Openers openersHere(LoopConfig config) {
        int events = config.eventsPerWait();
        return new Openers(
                Platform.hasKqueue() ? BackendKind.KQUEUE : BackendKind.EPOLL,
                () -> EpollBackend.open(SyscallFactories.LINUX, events),
                () -> IoUringBackend.open(SyscallFactories.LINUX, new LinuxUringCalls(), events),
                () -> openKqueue(events));
    }

    static Choice open(LoopConfig config, @Nullable String property, Openers openers) {
        Optional<BackendKind> named =
                config.backend().or(() -> Optional.ofNullable(property).map(Backends::named));
        if (named.isEmpty()) {
            return openPreferred(config, openers);
        }
        BackendKind wanted = named.get();
        if (wanted == openers.defaultKind) {
            return config.isBackendRequired()
                    ? openOrDefault(config, wanted, Level.WARNING, openers)
                    : openDefault(openers);
        }
        if (openers.defaultKind == BackendKind.KQUEUE) {
            throw new UnsupportedOperationException(
                    wanted
                            + " is available on Linux only: use kqueue here"
                            + " (LoopConfig.withBackend)");
        }
        return openOrDefault(config, wanted, Level.WARNING, openers);
    }

    private static Choice openPreferred(LoopConfig config, Openers openers) {
        BackendKind preferred = config.preferredBackend().orElse(openers.defaultKind);
        if (preferred == openers.defaultKind || openers.defaultKind == BackendKind.KQUEUE) {
            return openDefault(openers);
        }
        return openOrDefault(config, preferred, Level.INFO, openers);
    }

    private static Choice openDefault(Openers openers) {
        return new Choice(opener(openers, openers.defaultKind).get(), Optional.empty());
    }

    private static Supplier<? extends Backend> opener(Openers openers, BackendKind kind) {
        return switch (kind) {
            case EPOLL -> openers.epoll;
            case IO_URING -> openers.uring;
            case KQUEUE -> openers.kqueue;
        };
    }

    /// @param level how to log a fallback to the default
    private static Choice openOrDefault(
            LoopConfig config, BackendKind wanted, Level level, Openers openers) {
        try {
            return new Choice(opener(openers, wanted).get(), Optional.empty());
        } catch (SystemCallException | UnsupportedOperationException | LinkageError e) {
            String why = wanted + " is refused: " + reason(e);
            if (config.isBackendRequired()) {
                throw new UnsupportedOperationException(why, e);
            }
            Backend instead = openDefault(openers).backend();
            LOG.log(level, "loop " + config.name() + " uses " + instead.name() + ": " + why);
            return new Choice(instead, Optional.of(why));
        }
    }

    /// Returns the message of the cause where a class initializer failed to load a library.
    private static @Nullable String reason(Throwable e) {
        Throwable cause = e.getCause();
        return e.getMessage() == null && cause != null ? cause.getMessage() : e.getMessage();
    }

    private static Backend openKqueue(int events) {
        if (!Platform.hasKqueue() && System.getProperty(BsdKqueueCalls.LIBRARY_PROPERTY) == null) {
            throw new UnsupportedOperationException(
                    "Linux has no kqueue: name a library that emulates it by the system properties "
                            + BsdKqueueCalls.LIBRARY_PROPERTY
                            + " and "
                            + KqueueFlavour.PROPERTY);
        }
        KqueueFlavour flavour = KqueueFlavour.choose();
        return KqueueBackend.open(
                () -> new BsdKqueueCalls(flavour), flavour, SyscallFactories.LINUX, events);
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
