package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.metrics.LoopObserver;

import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/// A backend that was named on the command line: that one, or none. A loop would log a warning and wait on another,
/// and whoever measures or tries one would look at the wrong one.
final class NamedBackend {
    private NamedBackend() {}

    /// Why the backend of this configuration cannot be had; nothing if it can, or none was named.
    static Optional<String> refusal(LoopConfig config) {
        Optional<BackendKind> named = config.backend();
        return named.isPresent() ? refusal(named.get()) : Optional.empty();
    }

    private static Optional<String> refusal(BackendKind kind) {
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName("probe")
                        .withBackend(kind)
                        .withObserver(new LoopObserver() {});
        Logger log = Logger.getLogger("dev.gyre");
        Level before = log.getLevel();
        log.setLevel(Level.OFF); // What it would say is said here.
        try (EventLoop probe = EventLoop.open(config)) {
            return probe.metrics().backendFallback().map(why -> line(kind, why));
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            return Optional.of(line(kind, String.valueOf(e.getMessage())));
        } finally {
            log.setLevel(before);
        }
    }

    private static String line(BackendKind kind, String why) {
        return "Cannot wait on %s (gyre doctor tells more): %s"
                .formatted(kind, why.replaceFirst("^" + kind + " is refused: ", ""));
    }
}
