package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.SystemCallException;
import dev.gyre.http.HttpMetrics;
import dev.gyre.os.Signal;
import dev.gyre.os.StandardInput;
import dev.gyre.os.Terminal;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/// Runs a server on a group of loops: announces its address, serves until a signal arrives, drains,
/// and prints a summary. A second signal closes the remaining connections.
///
/// The main thread sets it up and waits. The first loop receives the signals.
abstract sealed class ServerRunner permits StreamServerRunner, WebServerRunner {
    static final String LOOP_STOPPED =
            "The event loop stopped unexpectedly. Run gyre doctor, and report a bug with its"
                    + " output.";

    private final LoopGroup group;
    private final ServerLog log;
    private boolean stopsWithInput;
    private @Nullable SocketAddress admin;
    private Duration stallLimit = Duration.ZERO;

    /// What SIGHUP reloads, by name.
    private final Map<String, Reload> reloads = new LinkedHashMap<>();

    /// Completes when the server has stopped, or its group ends. The group still runs.
    private final CompletableFuture<@Nullable Void> finished = new CompletableFuture<>();

    // First loop's thread only; the main thread's after `finished`.
    private @Nullable Signal stoppedBy;

    /// The standard streams that were terminals at the start.
    private final Set<Terminal.Standard> terminals = EnumSet.noneOf(Terminal.Standard.class);

    /// Reads files again. May block.
    @FunctionalInterface
    interface Reload {
        /// Reads the files again.
        ///
        /// @throws IOException if a file is unusable; the message says why, and the previous one
        ///     stays in use
        void run() throws IOException;
    }

    ServerRunner(LoopGroup group, ServerLog log) {
        this.group = group;
        this.log = log;
    }

    /// Opens loops and runs the body on them. Prints the reason if a loop cannot be opened.
    ///
    /// @param body returns the exit status
    static int open(ServerLog log, int loops, LoopConfig config, ToIntFunction<LoopGroup> body) {
        try (ServerLog _ = log.start()) {
            return openLoops(log, loops, config, body);
        }
    }

    private static int openLoops(
            ServerLog log, int loops, LoopConfig config, ToIntFunction<LoopGroup> body) {
        try (LoopGroup group = opened(loops, LoopGroupConfig.DEFAULT.withLoopConfig(config))) {
            return body.applyAsInt(group);
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            log.printError(LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            log.printError(String.valueOf(e.getMessage()));
        }
        return 1;
    }

    private static LoopGroup opened(int loops, LoopGroupConfig config) {
        try {
            return LoopGroup.of(loops, config);
        } catch (IllegalStateException e) { // The loops need more memory than the process has.
            throw new UnsupportedOperationException(e.getMessage(), e);
        }
    }

    final LoopGroup group() {
        return group;
    }

    /// Returns the loop that receives the signals.
    final EventLoop first() {
        return group.loops().getFirst();
    }

    /// Sets the admin address and the limit of the watchdog. Before [#run].
    ///
    /// @param address `null` for none
    /// @param limit zero for no watchdog
    final void monitor(@Nullable SocketAddress address, Duration limit) {
        admin = address;
        stallLimit = limit;
    }

    /// Returns the metrics for the admin address; `null` if the server has none.
    abstract @Nullable HttpMetrics httpMetrics();

    /// Called when the admin server listens.
    ///
    /// @param url of the dashboard
    void dashboardAt(String url) {}

    /// Stops at the end of standard input, as by SIGTERM.
    final void stopWithInput() {
        stopsWithInput = true;
    }

    /// Listens, serves until a signal arrives, and prints the summary.
    ///
    /// @param listening listens on the address, and returns the supplier of the summary
    /// @param started announces the address
    /// @return the exit status
    final int run(
            SocketAddress where,
            Function<SocketAddress, Supplier<String>> listening,
            Runnable started) {
        for (Terminal.Standard each : Terminal.Standard.values()) {
            if (Terminal.isTerminal(each)) {
                terminals.add(each);
            }
        }
        var _ = group.perLoop(this::subscribe);
        group.onShutdown(
                _ -> {
                    finish();
                    return finished;
                });
        Supplier<String> summary;
        try {
            summary = listening.apply(Addresses.resolved(where));
        } catch (SystemCallException e) {
            return refused(where, bareReason(e));
        } catch (UnknownHostException e) {
            return refused(
                    where, "unknown host: use an address of this machine, such as 127.0.0.1");
        }
        ServerMonitoring monitoring = null;
        try {
            if (admin != null) {
                monitoring = new ServerMonitoring(group, admin, stallLimit, httpMetrics());
            }
            group.start();
            started.run();
            if (monitoring != null) {
                announce(monitoring);
            } else if (!stallLimit.isZero()) { // After the start, which it would delay.
                monitoring = new ServerMonitoring(group, null, stallLimit, null);
            }
            finished.join();
        } catch (SystemCallException e) {
            return refused(Objects.requireNonNull(admin), bareReason(e));
        } finally {
            if (monitoring != null) {
                monitoring.close();
            }
        }
        Signal signal = stoppedBy;
        if (signal == null) {
            printError(LOOP_STOPPED);
            return 1;
        }
        print("Stopped by " + signal + ": " + summary.get() + ".");
        return StopSignals.status(signal);
    }

    /// Subscribes the first loop, and the one that replaces it, to the events that stop the server.
    private Optional<EventLoop> subscribe(EventLoop loop) {
        if (!loop.equals(first())) {
            return Optional.empty();
        }
        StopSignals.on(loop, this::onSignal);
        if (stopsWithInput) {
            StandardInput _ = StandardInput.on(loop, _ -> {}, () -> stop(Signal.SIGTERM));
        }
        return Optional.of(loop);
    }

    private void announce(ServerMonitoring monitoring) {
        String url = monitoring.dashboardUrl();
        String address = Addresses.show(Objects.requireNonNull(monitoring.adminAddress()));
        print("Admin on %s. Try: gyre top %s".formatted(url == null ? address : url, address));
        if (url != null) {
            dashboardAt(url);
        }
    }

    /// Returns the message without the address, which the line names already.
    private static String bareReason(SystemCallException e) {
        return String.valueOf(e.getMessage()).replaceFirst("^cannot (bind|listen).*?: (?=E)", "");
    }

    private int refused(SocketAddress where, String why) {
        printError("Cannot listen on " + Addresses.show(where) + ": " + why);
        return 1;
    }

    private void onSignal(Signal signal) {
        if (signal == Signal.SIGHUP && terminals.stream().allMatch(Terminal::isTerminal)) {
            // A virtual thread: files may be slow.
            Thread _ = Thread.ofVirtual().name("gyre-reload").start(this::reload);
        } else {
            stop(signal); // SIGHUP of a terminal that has closed, too.
        }
    }

    /// Adds files that SIGHUP reads again. Before [#run].
    ///
    /// @param what the files, for the log
    final void onHangUp(String what, Reload reload) {
        reloads.put(what, reload);
    }

    /// Synchronized: signals in a row must not reload the same files at once.
    @SuppressWarnings("CatchingUnchecked") // One entry must not prevent the others.
    final synchronized void reload() {
        reloads.forEach(
                (what, reload) -> {
                    try {
                        reload.run();
                        log.log(Level.INFO, "SIGHUP: reloaded " + what);
                    } catch (IOException | RuntimeException e) {
                        String why = e instanceof IOException ? e.getMessage() : e.toString();
                        log.log(
                                Level.ERROR,
                                "SIGHUP: cannot reload %s, the previous one stays in use: %s"
                                        .formatted(what, why));
                    }
                });
        if (reloads.isEmpty()) {
            log.log(Level.INFO, "SIGHUP: no files to reload");
        }
    }

    /// Stops as if the signal had arrived. First loop's thread only.
    final void stop(Signal signal) {
        boolean again = stoppedBy != null;
        stoppedBy = signal;
        if (again) {
            stopNow();
        } else {
            drain();
        }
    }

    /// Stops accepting, and finishes once all work is done. First loop's thread only.
    abstract void drain();

    /// Finishes soon. Closing the group closes its connections. First loop's thread only.
    abstract void stopNow();

    /// Lets the main thread print the summary and close the group.
    final void finish() {
        finished.complete(null);
    }

    final void printDraining(long connections, long seconds) {
        if (connections > 0) {
            print(
                    "Draining %s (up to %d s). Press Ctrl-C again to stop now."
                            .formatted(count(connections, "connection"), seconds));
        }
    }

    static String count(long number, String what) {
        return number == 1 ? "1 " + what : number + " " + what + "s";
    }

    final void print(String line) {
        log.print(line);
    }

    /// Prints a line on standard error.
    final void printError(String line) {
        log.printError(line);
    }
}
