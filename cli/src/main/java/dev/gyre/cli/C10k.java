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
import java.util.List;
import java.util.concurrent.Callable;

/// `gyre c10k`: ten thousand connections, and what they cost.
@Command(
        name = "c10k",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Holds ten thousand connections, and tells what they cost.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre c10k [OPTION...]",
        descriptionHeading = "%n",
        description = {
            "Starts a `gyre echo` in a process of its own, as each of the two has half of the"
                + " descriptors, and connects to it. Then all connections are idle for a while, and"
                + " then each sends a message of 64 bytes a second, the messages of all spread"
                + " evenly over it; at first to warm up, as the JVM compiles what it runs only"
                + " then, and then in earnest. Client and server are one loop each, on one thread.",
            "With --http it is a `gyre serve`, and each connection asks it for /plaintext a second;"
                    + " an answer has to be 200 and the text that was asked for.",
            "",
            "What is measured:",
            "",
            "  memory    of the server, resident, as the kernel has it (VmRSS); 1 MB is",
            "            1000000 bytes",
            "  core      processor time of all threads of the server, of one core",
            "  latency   from when a message was due until it is back, so that one which the",
            "            client itself could not send in time counts as late",
            "  dropped   connections that ended without being told to, with the reason",
            "",
            "The last line is the verdict: PASS, or FAIL with each limit that was missed. The"
                + " limits: 80 MB and 2 %% of a core with all connections idle; no connection"
                + " dropped, no message lost, p99 below 50 ms, and memory that grows by at most 10"
                + " %% under load; with --http any memory idle, and p99 below 100 ms. On a machine"
                + " that is busy otherwise, latency tells more of its scheduler than of the loop.",
            ""
        },
        optionListHeading = "Options:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:PASS",
            "1:FAIL, or it could not be found out; the reason is on standard error",
            "2:the command line makes no sense",
            "129:ended by SIGHUP: the terminal is gone",
            "130:ended by Ctrl-C",
            "143:ended by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre c10k",
            "  gyre c10k --load 5m                    whether memory stays as it is",
            "  gyre c10k --connections 1000 --idle 2s --load 5s",
            "  gyre c10k --backend io_uring",
            "  gyre c10k --http",
            ""
        })
final class C10k implements Callable<Integer> {
    private static final int MOST_CONNECTIONS = 1_000_000;

    /// Descriptors that a process has open beside those of its connections.
    static final int OTHER_DESCRIPTORS = 64;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-n", "--connections"},
            paramLabel = "N",
            defaultValue = "10000",
            description = "How many connections, from 1. Default: ${DEFAULT-VALUE}.")
    private int connections;

    @Option(
            names = {"-i", "--idle"},
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = Durations.class,
            description =
                    "How long they are idle, from 1s; a bare number is of seconds, here and below."
                            + " Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration idle;

    @Option(
            names = {"-w", "--warm-up"},
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = Durations.class,
            description =
                    "How long they talk before it counts, in whole seconds; 0 for not at all."
                            + " Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration warmUp;

    @Option(
            names = {"-l", "--load"},
            paramLabel = "DURATION",
            defaultValue = "30s",
            converter = Durations.class,
            description =
                    "How long they talk, from 1s, in whole seconds. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration load;

    @Option(names = "--http", description = "Has them ask a web server instead of an echo.")
    private boolean http;

    @Option(
            names = {"-b", "--backend"},
            paramLabel = "NAME",
            converter = ServerOptions.BackendReader.class,
            description =
                    "What both loops wait on: epoll or io_uring. Default: io_uring where it works.")
    private @Nullable BackendKind backend;

    // Loop thread only.
    private int status = 1;
    private boolean ending;

    @Override
    public Integer call() {
        requireSense();
        long limit = DescriptorLimit.openFiles().current();
        if (limit >= 0 && limit < connections + OTHER_DESCRIPTORS) {
            return failed(tooFewDescriptors(connections, limit));
        }
        // Silent: what is left over at the end is none of the user's concern.
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
            return failed(LoopRefusal.line(e));
        } catch (StopSignals.Refused e) {
            return failed("Signals cannot be taken: " + e.getMessage());
        }
    }

    static String tooFewDescriptors(int connections, long limit) {
        int needed = connections + OTHER_DESCRIPTORS;
        return "%d connections need %d open files in each of two processes, and the limit is %d:"
                        .formatted(connections, needed, limit)
                + " raise it (ulimit -n %d), or take fewer (--connections %d)."
                        .formatted(needed, Math.max(1, limit - OTHER_DESCRIPTORS));
    }

    private void run(EventLoop loop) {
        CrowdTrial trial =
                new CrowdTrial(
                        loop,
                        http ? CrowdKind.HTTP : CrowdKind.ECHO,
                        spec.commandLine().getOut(),
                        connections,
                        idle,
                        warmUp,
                        load);
        StopSignals.on(loop, signal -> interrupted(loop, trial, signal));
        Promise<@Nullable Void> _ =
                trial.run(backend == null ? List.of() : List.of("--backend", backend.id()))
                        .then(
                                verdict -> {
                                    end(loop, trial, verdict.isPass() ? 0 : 1, verdict.toString());
                                    return null;
                                },
                                failure -> {
                                    if (!ending) {
                                        int _ = failed("Cannot tell: " + failure.getMessage());
                                    }
                                    end(loop, trial, 1, "");
                                    return null;
                                });
        loop.run();
    }

    private void interrupted(EventLoop loop, CrowdTrial trial, Signal signal) {
        if (ending) {
            loop.stop(); // Twice: at once.
        }
        end(loop, trial, StopSignals.status(signal), "Ended by " + signal + ".");
    }

    /// The first end counts.
    private void end(EventLoop loop, CrowdTrial trial, int status, String lastLine) {
        if (ending) {
            return;
        }
        ending = true;
        this.status = status;
        Promise<@Nullable Void> _ =
                trial.end()
                        .finallyRun(
                                () -> {
                                    if (!lastLine.isEmpty()) {
                                        print(spec.commandLine().getOut(), lastLine);
                                    }
                                    loop.stop();
                                });
    }

    private void requireSense() {
        if (connections < 1 || connections > MOST_CONNECTIONS) {
            throw misuse(
                    "--connections",
                    "must be from 1 to " + MOST_CONNECTIONS + ", but is " + connections);
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
