package dev.gyre.cli;

import dev.gyre.LoopConfig;
import dev.gyre.cli.serve.AotTraining;
import dev.gyre.cli.serve.WebServer;
import dev.gyre.http.AccessLog;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpMetrics;
import dev.gyre.io.CloseReason;
import dev.gyre.io.ListenerConfig;
import dev.gyre.metrics.LoopMetrics;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;

/// Runs an HTTP server.
final class WebServerRunner extends ServerRunner {
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(10);

    /// How long loops may take to count their active connections. After it, all open connections
    /// count as active.
    private static final Duration COUNT_TIMEOUT = Duration.ofMillis(200);

    private final WebServer web;
    private @Nullable AccessLog accessLog;
    private @Nullable AotTraining training;

    // Shared: written by the thread that counts.
    private volatile long unanswered;

    private WebServerRunner(WebServer web, ServerLog log) {
        super(web.group(), log);
        this.web = web;
    }

    /// Opens loops with a server and runs the body.
    ///
    /// @param body returns the exit status
    static int open(
            ServerLog log,
            int loops,
            LoopConfig config,
            HttpConfig http,
            ToIntFunction<WebServerRunner> body) {
        return open(
                log,
                loops,
                config,
                group -> body.applyAsInt(new WebServerRunner(new WebServer(group, http), log)));
    }

    WebServer web() {
        return web;
    }

    /// Logs each request.
    void logTo(AccessLog requests) {
        accessLog = requests;
        web.server().use(requests);
    }

    /// Sends the training requests for the start-up cache to itself, and stops.
    void train() {
        try {
            training = AotTraining.with(web.server());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // for the launcher's log
        }
    }

    /// Serves HTTP.
    ///
    /// @param site what is served, as in `Demo`
    /// @return the exit status
    int serve(String site, SocketAddress where, ListenerConfig config) {
        int status =
                run(
                        where,
                        wanted -> {
                            web.server().listen(wanted, config);
                            IdleHeapTrimmer.watch(web);
                            return this::summary;
                        },
                        () -> {
                            announce(site, config.streams().tls() != null);
                            beginTraining();
                        });
        return training == null || status == 1 ? status : training.end();
    }

    private void beginTraining() {
        AotTraining known = training;
        if (known != null && web.server().address() instanceof InetSocketAddress internet) {
            first().submit(() -> known.begin(first(), internet, () -> stop(Signal.SIGTERM)));
        }
    }

    private void announce(String site, boolean secure) {
        print(
                "%s on %s (%s%s, %s). Press Ctrl-C to stop."
                        .formatted(
                                site,
                                url(web.server().address(), secure),
                                count(group().size(), "loop"),
                                secure ? ", TLS" : "",
                                first().metrics().backend()));
    }

    /// Returns the URL to open in a browser, or the path of a Unix domain socket.
    private static String url(SocketAddress address, boolean secure) {
        if (!(address instanceof InetSocketAddress internet)) {
            return Addresses.show(address);
        }
        InetAddress host = internet.getAddress();
        boolean here = host.isAnyLocalAddress() || host.getHostAddress().equals("127.0.0.1");
        String authority = here ? "localhost:" + internet.getPort() : Addresses.show(address);
        return (secure ? "https://" : "http://") + authority + "/";
    }

    @Override
    HttpMetrics httpMetrics() {
        return web.metrics();
    }

    @Override
    void dashboardAt(String url) {
        web.setDashboard(url);
    }

    @Override
    void drain() {
        CompletableFuture<?> drained = web.server().drain(DRAIN_TIMEOUT).toCompletableFuture();
        CompletableFuture<?> printed =
                countActive()
                        .thenAccept(active -> printDraining(active, DRAIN_TIMEOUT.toSeconds()));
        CompletableFuture<?> _ = CompletableFuture.allOf(drained, printed).thenRun(this::finish);
    }

    @Override
    void stopNow() {
        CompletableFuture<?> _ =
                countActive()
                        .thenAccept(
                                active -> {
                                    unanswered = active;
                                    finish();
                                });
    }

    private CompletableFuture<Integer> countActive() {
        return web.server()
                .activeConnections()
                .toCompletableFuture()
                .orTimeout(COUNT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(_ -> web.server().connections());
    }

    private String summary() {
        long aborted = unanswered + web.closed(CloseReason.ABORTED);
        long unwritten = accessLog == null ? 0 : accessLog.dropped();
        return "%s on %s%s%s%s"
                .formatted(
                        count(web.requests(), "request"),
                        count(web.sum(LoopMetrics::streamsOpened), "connection"),
                        aborted == 0 ? "" : "; " + aborted + " aborted",
                        causes(),
                        unwritten == 0 ? "" : "; " + count(unwritten, "line") + " not logged");
    }

    /// Returns why the server closed connections early, as in `; 2 header timeout; 1 refused`.
    private String causes() {
        StringBuilder causes = new StringBuilder();
        for (CloseReason reason : CloseReason.values()) {
            if (reason.isTimeout()) {
                add(causes, web.closed(reason), ServerStats.words(reason));
            }
        }
        add(causes, web.sum(LoopMetrics::connectionsRefused), "refused");
        add(causes, web.sum(LoopMetrics::connectionsShed), "shed for lack of descriptors");
        add(causes, web.server().rejectedFileRequests(), "file requests rejected");
        return causes.toString();
    }

    private static void add(StringBuilder to, long number, String what) {
        if (number > 0) {
            to.append("; ").append(number).append(' ').append(what);
        }
    }
}
