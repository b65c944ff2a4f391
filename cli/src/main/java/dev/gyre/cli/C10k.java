package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/// `gyre c10k`: holds ten thousand connections and measures the server.
@Command(
        name = "c10k",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Holds ten thousand connections, and measures their cost.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre c10k [OPTION...]",
        descriptionHeading = "%n",
        description = {
            "Starts `gyre echo` in its own process, because each side needs one descriptor per"
                    + " connection, and connects to it. The connections are idle for a while; then"
                    + " each sends one message of 64 bytes per second, spread evenly, first to warm"
                    + " up the JVM and then to measure. The client runs one loop.",
            "With --http the server is `gyre serve`, and each connection requests /plaintext once"
                    + " per second; a valid response is 200 with the expected text.",
            "",
            "Measurements:",
            "",
            "  memory    resident memory of the server (VmRSS); 1 MB is 1000000 bytes",
            "  core      CPU time of all threads of the server, as a share of one core",
            "  latency   from the scheduled time of a message until the response; a message",
            "            that the client sends late counts as slow",
            "  dropped   connections that closed unexpectedly, with the reason",
            "",
            "The last line is the verdict: PASS, or FAIL with each exceeded limit. Limits: 80 MB"
                    + " and 2 %% of a core with all connections idle; no connection dropped, no"
                    + " message lost, p99 below 50 ms, and memory growth of at most 10 %% under"
                    + " load. With --http: any idle memory, and p99 below 100 ms. On a busy machine"
                    + " latency measures its scheduler more than the loop.",
            ""
        },
        optionListHeading = "Options:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:PASS",
            "1:FAIL, or the trial failed; the reason is on standard error",
            "2:invalid command line",
            "129:stopped by SIGHUP (terminal closed)",
            "130:stopped by Ctrl-C",
            "143:stopped by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre c10k",
            "  gyre c10k --load 5m                    check that memory stays constant",
            "  gyre c10k --connections 1000 --idle 2s --load 5s",
            "  gyre c10k --backend io_uring",
            "  gyre c10k --http",
            ""
        })
final class C10k implements Callable<Integer> {
    private static final int MAX_CONNECTIONS = 1_000_000;

    /// Descriptors that a process needs in addition to its connections.
    static final int OTHER_DESCRIPTORS = 64;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-n", "--connections"},
            paramLabel = "N",
            defaultValue = "10000",
            description = "Number of connections. Default: ${DEFAULT-VALUE}.")
    private int connections;

    @Option(
            names = {"-i", "--idle"},
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = Durations.class,
            description =
                    "Idle time, at least 1s; a bare number means seconds. Default:"
                            + " ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration idle;

    @Option(
            names = {"-w", "--warm-up"},
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = Durations.class,
            description =
                    "Load before the measurement, in whole seconds; 0 for none. Default:"
                            + " ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration warmUp;

    @Option(
            names = {"-l", "--load"},
            paramLabel = "DURATION",
            defaultValue = "30s",
            converter = Durations.class,
            description =
                    "Measured load, at least 1s, in whole seconds. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration load;

    @Option(names = "--http", description = "Uses an HTTP server instead of an echo server.")
    private boolean http;

    @Option(
            names = "--loops",
            paramLabel = "N",
            defaultValue = "1",
            description = "The number of event loops of the server. Default: ${DEFAULT-VALUE}.")
    private int loops;

    @Option(
            names = {"-b", "--backend"},
            paramLabel = "NAME",
            converter = ServerOptions.BackendConverter.class,
            description =
                    "The backend of client and server: epoll or io_uring. Default: io_uring if"
                            + " available.")
    private @Nullable BackendKind backend;

    // Loop thread only.
    private int status = 1;
    private boolean stopping;

    @Override
    public Integer call() {
        requireValidOptions();
        long limit = DescriptorLimit.openFiles().current();
        if (limit >= 0 && limit < connections + OTHER_DESCRIPTORS) {
            return failed(tooFewDescriptors(connections, limit));
        }
        // No warnings: timers left at the end are normal here.
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName("c10k")
                        .withPreferredBackend(BackendKind.IO_URING)
                        .withObserver(new LoopObserver() {});
        try (EventLoop loop =
                EventLoop.open(backend == null ? config : config.withRequiredBackend(backend))) {
            run(loop);
            return status;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            return failed(LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            return failed(String.valueOf(e.getMessage()));
        }
    }

    static String tooFewDescriptors(int connections, long limit) {
        int needed = connections + OTHER_DESCRIPTORS;
        return "%d connections need %d open files in each of two processes, but the limit is %d:"
                        .formatted(connections, needed, limit)
                + " raise it (ulimit -n %d), or use fewer (--connections %d)."
                        .formatted(needed, Math.max(1, limit - OTHER_DESCRIPTORS));
    }

    private void run(EventLoop loop) {
        LoadTrial trial =
                new LoadTrial(
                        loop,
                        http ? LoadKind.HTTP : LoadKind.ECHO,
                        spec.commandLine().getOut(),
                        connections,
                        idle,
                        warmUp,
                        load);
        StopSignals.on(loop, signal -> interrupted(loop, trial, signal));
        Promise<@Nullable Void> _ =
                trial.run(serverOptions())
                        .then(
                                verdict -> {
                                    stop(loop, trial, verdict.isPass() ? 0 : 1, verdict.toString());
                                    return null;
                                },
                                failure -> {
                                    if (!stopping) {
                                        int _ =
                                                failed(
                                                        "The measurement failed: "
                                                                + failure.getMessage());
                                    }
                                    stop(loop, trial, 1, "");
                                    return null;
                                });
        loop.run();
    }

    private List<String> serverOptions() {
        List<String> words = new ArrayList<>(List.of("--loops", String.valueOf(loops)));
        if (backend != null) {
            words.addAll(List.of("--backend", backend.id()));
        }
        return words;
    }

    private void interrupted(EventLoop loop, LoadTrial trial, Signal signal) {
        if (stopping) {
            loop.stop(); // The second signal stops at once.
        }
        stop(loop, trial, StopSignals.status(signal), "Stopped by " + signal + ".");
    }

    /// Stops with the first status.
    private void stop(EventLoop loop, LoadTrial trial, int status, String lastLine) {
        if (stopping) {
            return;
        }
        stopping = true;
        this.status = status;
        Promise<@Nullable Void> _ =
                trial.stop()
                        .finallyRun(
                                () -> {
                                    if (!lastLine.isEmpty()) {
                                        print(spec.commandLine().getOut(), lastLine);
                                    }
                                    loop.stop();
                                });
    }

    private void requireValidOptions() {
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw misuse(
                    "--connections",
                    "must be from 1 to " + MAX_CONNECTIONS + ", but is " + connections);
        }
        if (loops < 1 || loops > ServerOptions.MAX_LOOPS) {
            throw misuse(
                    "--loops",
                    "must be from 1 to " + ServerOptions.MAX_LOOPS + ", but is " + loops);
        }
        requireSecond("--idle", idle);
        requireSecond("--load", load);
        requireWhole("--warm-up", warmUp);
        requireWhole("--load", load);
    }

    private void requireWhole(String option, Duration duration) {
        if (!duration.truncatedTo(ChronoUnit.SECONDS).equals(duration)) {
            throw misuse(option, "must be whole seconds, but is " + duration.toMillis() + " ms");
        }
    }

    private void requireSecond(String option, Duration duration) {
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            throw misuse(option, "must be at least 1s, but is " + duration.toMillis() + " ms");
        }
    }

    private ParameterException misuse(String option, String message) {
        return new ParameterException(
                spec.commandLine(), "Invalid value for option '" + option + "': " + message);
    }

    private int failed(String message) {
        print(spec.commandLine().getErr(), message);
        return 1;
    }

    private static void print(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }
}
