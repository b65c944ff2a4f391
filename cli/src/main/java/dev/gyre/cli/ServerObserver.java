package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopObserver;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;

/// Logs what the loops of a server report: overload, floods, unhandled rejections, and connections
/// on request. Work that a loop abandons at its end is in the server's summary.
final class ServerObserver implements LoopObserver {
    /// Fewer breaches are a burst, as of ten thousand connections that close at once.
    private static final long MIN_BREACHES = 16;

    private final ServerLog log;
    private final boolean verbose;
    private final LoopObserver logging = LoopObserver.logging();

    // Shared: counted by all loops.
    private final AtomicLong breaches = new AtomicLong();

    ServerObserver(ServerLog log, boolean verbose) {
        this.log = log;
        this.verbose = verbose;
    }

    /// Logs the breaches 16, 32, 64 and so on.
    @Override
    public void onTaskBudgetExceeded(EventLoop loop, int remaining) {
        long count = breaches.incrementAndGet();
        if (count >= MIN_BREACHES && Long.bitCount(count) == 1) {
            log.log(
                    Level.WARNING,
                    "loop %s is overloaded: %d tasks wait after a full tick (occurrence %d)"
                            .formatted(loop.config().name(), remaining, count));
        }
    }

    @Override
    public void onMicrotaskFlood(EventLoop loop, int remaining) {
        logging.onMicrotaskFlood(loop, remaining);
    }

    @Override
    public void onPriorityFlood(EventLoop loop, int ran) {
        logging.onPriorityFlood(loop, ran);
    }

    @Override
    public void onUnhandledRejection(EventLoop loop, Promise<?> promise, Throwable reason) {
        logging.onUnhandledRejection(loop, promise, reason);
    }

    @Override
    public void onStreamOpened(Stream stream) {
        if (verbose) {
            String name = "connection " + stream.id() + " from " + Addresses.show(stream.peer());
            log.log(Level.INFO, name + " opened on loop " + stream.loop().config().name());
            stream.onClose(
                    reason ->
                            log.log(
                                    Level.INFO,
                                    "%s closed: %s, %s received, %s sent"
                                            .formatted(
                                                    name,
                                                    ServerStats.words(reason),
                                                    ServerStats.bytes(stream.received()),
                                                    ServerStats.bytes(stream.sent()))));
        }
    }
}
