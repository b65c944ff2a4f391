package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.Timer;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopObserver;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Logs what the loops of a server report: overload, floods, unhandled rejections, and connections
/// on request. Work that a loop abandons at its end is in the server's summary.
final class ServerObserver implements LoopObserver {
    /// Fewer breaches are a burst, as of ten thousand connections that close at once.
    private static final long MIN_BREACHES = 16;

    /// Overload ends when it has not recurred for this time.
    private static final Duration QUIET = Duration.ofSeconds(10);

    private final ServerLog log;
    private final boolean verbose;
    private final LoopObserver logging = LoopObserver.logging();

    // Shared: each loop adds and removes its own entry.
    private final Map<EventLoop, Overload> overloads = new ConcurrentHashMap<>();

    ServerObserver(ServerLog log, boolean verbose) {
        this.log = log;
        this.verbose = verbose;
    }

    /// Logs the 16th breach of an overload, and its end.
    @Override
    public void onTaskBudgetExceeded(EventLoop loop, int remaining) {
        overloads.computeIfAbsent(loop, Overload::new).add(remaining);
    }

    @Override
    public void onTerminated(EventLoop loop, ShutdownReport report) {
        overloads.remove(loop);
    }

    /// Consecutive breaches of one loop's task budget.
    private final class Overload {
        private final EventLoop loop;

        // Loop thread only.
        private long breaches;
        private int maxWaiting;
        private long beganAt;
        private long lastAt;

        Overload(EventLoop loop) {
            this.loop = loop;
        }

        void add(int waiting) {
            lastAt = loop.nanoTime();
            if (breaches == 0) {
                beganAt = lastAt;
                checkAfter(QUIET.toNanos());
            }
            breaches++;
            maxWaiting = Math.max(maxWaiting, waiting);
            if (breaches == MIN_BREACHES) {
                log.log(
                        Level.WARNING,
                        "loop %s is overloaded: %d tasks wait after a full tick"
                                .formatted(loop.config().name(), waiting));
            }
        }

        private void checkAfter(long nanos) {
            Timer _ = loop.after(Duration.ofNanos(nanos), _ -> check()).unreference();
        }

        private void check() {
            long left = QUIET.toNanos() - (loop.nanoTime() - lastAt);
            if (left > 0) {
                checkAfter(left);
                return;
            }
            overloads.remove(loop);
            if (breaches >= MIN_BREACHES) {
                log.log(
                        Level.INFO,
                        ("loop %s is no longer overloaded: %d full ticks in %d s, up to %d tasks"
                                        + " waited")
                                .formatted(
                                        loop.config().name(),
                                        breaches,
                                        Duration.ofNanos(lastAt - beganAt).toSeconds(),
                                        maxWaiting));
            }
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
            String name = "connection " + stream.id() + " with " + Addresses.show(stream.peer());
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
