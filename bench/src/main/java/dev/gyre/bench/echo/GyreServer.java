package dev.gyre.bench.echo;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import java.util.function.ToIntFunction;

/// A server on a Gyre loop that runs until it is killed.
public final class GyreServer {
    private GyreServer() {}

    /// Runs a loop on this thread and serves, or declines if the backend is not available.
    ///
    /// @param backend the argument of `--backend`
    /// @param listen starts listening, and returns the port
    public static void serve(String backend, ToIntFunction<EventLoop> listen) {
        LoopConfig config = LoopConfig.DEFAULT.withBackend(BackendKind.of(backend));
        try (EventLoop loop = EventLoop.open(config)) {
            if (loop.metrics().backendFallback().isPresent()) {
                Announcement.declines(loop.metrics().backendFallback().get());
                return;
            }
            Announcement.listening(listen.applyAsInt(loop));
            loop.run();
        }
    }
}
