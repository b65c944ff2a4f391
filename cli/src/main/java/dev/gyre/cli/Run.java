package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.os.Signal;
import dev.gyre.os.Stdio;
import dev.gyre.os.Terminal;

import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/// `gyre run`: supervises a command.
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Keeps a command running: restarts it when it fails, forwards signals.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre run [OPTION...] [--] COMMAND [ARGUMENT...]",
        descriptionHeading = "%n",
        description = {
            "Starts a command and waits for its exit. --restart selects when it is restarted. The"
                    + " pause doubles from --backoff to --max-backoff with each restart in a row; a"
                    + " run of 10 s ends the row. Events are logged to standard error. gyre uses"
                    + " no CPU time while the command runs.",
            "",
            "Signals to gyre:",
            "",
            "  SIGINT, SIGTERM    forwarded to the command's process group; SIGKILL follows",
            "                     after --stop-timeout; no restart. Sent again, they are",
            "                     forwarded again",
            "  SIGHUP             on a terminal (which has closed): same as SIGTERM;",
            "                     elsewhere: forwarded to the command, to reload",
            "  SIGUSR1            forwarded to the command",
            "  SIGWINCH, SIGCONT  forwarded to its process group",
            "",
            "Other signals are not forwarded: the JVM uses SIGUSR2 and SIGQUIT, and SIGKILL and"
                    + " SIGSTOP cannot be caught. Killing gyre with SIGKILL leaves the command"
                    + " running. Ctrl-Z stops gyre but not the command.",
            "",
            "The command runs in its own process group, so that Ctrl-C reaches it once, through"
                    + " gyre. It must stay in the foreground: processes left in the group after its"
                    + " exit receive SIGTERM. It inherits gyre's output, and its input unless that"
                    + " is a terminal: then it reads /dev/null.",
            ""
        },
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "N:exit status of the last run; 128 + signal if a signal ended it",
            "1:gyre itself failed; the reason is on standard error",
            "2:invalid command line",
            "126:the command cannot be run",
            "127:the command was not found",
            "129, 130, 143:stopped by SIGHUP, SIGINT or SIGTERM during a pause"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre run -- ./server --port 8080",
            "  gyre run --restart always --backoff 1000 ./poll-once",
            "  gyre run --restart never --stop-timeout 3 ./batch <input.csv",
            "  gyre run --max-restarts 5 --quiet ./flaky || mail -s 'gave up' root",
            ""
        })
final class Run implements Callable<Integer> {
    static final Duration SETTLED_AFTER = Duration.ofSeconds(10);

    private static final int MAX_MILLIS = 86_400_000;
    private static final int MAX_SECONDS = 86_400;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-r", "--restart"},
            paramLabel = "WHEN",
            defaultValue = "on-failure",
            converter = WhenConverter.class,
            description =
                    "When to restart: never, on-failure or always. A failure is an exit status"
                            + " other than 0, or a signal. Default: ${DEFAULT-VALUE}.")
    private RestartPolicy.When restart = RestartPolicy.When.ON_FAILURE;

    @Option(
            names = {"-b", "--backoff"},
            paramLabel = "MILLIS",
            defaultValue = "200",
            description = "The first pause, from 0 to 86400000. Default: ${DEFAULT-VALUE}.")
    private int backoffMillis;

    @Option(
            names = "--max-backoff",
            paramLabel = "MILLIS",
            defaultValue = "30000",
            description = "The max pause, from 0 to 86400000. Default: ${DEFAULT-VALUE}.")
    private int maxBackoffMillis;

    @Option(
            names = {"-m", "--max-restarts"},
            paramLabel = "N",
            defaultValue = "" + RestartPolicy.NO_LIMIT,
            description = "Stops after this many restarts in a row. Default: no limit.")
    private int maxRestarts;

    @Option(
            names = {"-t", "--stop-timeout"},
            paramLabel = "SECONDS",
            defaultValue = "10",
            description =
                    "The time between the stop signal and SIGKILL, from 0 to 86400."
                            + " Default: ${DEFAULT-VALUE}.")
    private int stopTimeoutSeconds;

    @Option(
            names = {"-q", "--quiet"},
            description = "Logs errors only.")
    private boolean quiet;

    @Parameters(
            paramLabel = "COMMAND",
            arity = "1..*",
            description =
                    "The command, looked up on the PATH, and its arguments; no shell is involved.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private List<String> command;

    // Loop thread only.
    private int status = 1;

    @Override
    public Integer call() {
        requireWithin("--backoff", backoffMillis, 0, MAX_MILLIS);
        requireWithin("--max-backoff", maxBackoffMillis, 0, MAX_MILLIS);
        requireWithin("--max-restarts", maxRestarts, 0, RestartPolicy.NO_LIMIT);
        requireWithin("--stop-timeout", stopTimeoutSeconds, 0, MAX_SECONDS);
        dev.gyre.os.Command toRun = toRun();
        // No warnings: timers left at the end are normal here.
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName("run")
                        .withFailurePolicy(FailurePolicy.PROPAGATE)
                        .withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config)) {
            supervise(loop, toRun);
            return status;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            say(LoopErrors.line(e));
            return 1;
        } catch (StopSignals.SignalSetupException e) {
            say(String.valueOf(e.getMessage()));
            return 1;
        }
    }

    private dev.gyre.os.Command toRun() {
        String[] arguments = command.subList(1, command.size()).toArray(String[]::new);
        try {
            return dev.gyre.os.Command.of(command.getFirst(), arguments)
                    .withInput(
                            Terminal.isTerminal(Terminal.Standard.INPUT)
                                    ? Stdio.NULL
                                    : Stdio.INHERIT);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), "Invalid command: " + e.getMessage(), e);
        }
    }

    private void supervise(EventLoop loop, dev.gyre.os.Command toRun) {
        RestartPolicy policy =
                new RestartPolicy(
                        restart,
                        Duration.ofMillis(backoffMillis),
                        Duration.ofMillis(maxBackoffMillis),
                        SETTLED_AFTER,
                        maxRestarts);
        Supervisor supervisor =
                new Supervisor(
                        new LoopHost(loop, toRun),
                        policy,
                        Duration.ofSeconds(stopTimeoutSeconds),
                        new Listener(),
                        result -> {
                            status = result;
                            loop.stop();
                        });
        Set<Signal> stops = stops(onTerminal());
        // Before the start: a signal must not kill gyre and leave the command running.
        StopSignals.on(loop, stops, supervisor::stop);
        Set<Signal> others = EnumSet.of(Signal.SIGHUP, Signal.SIGUSR1);
        others.removeAll(stops);
        StopSignals.on(loop, others, supervisor::forward);
        Set<Signal> terminals = EnumSet.of(Signal.SIGWINCH, Signal.SIGCONT);
        StopSignals.on(loop, terminals, supervisor::forwardToGroup);
        supervisor.start();
        loop.run();
    }

    /// SIGHUP means that the terminal has closed, if there was one.
    static Set<Signal> stops(boolean onTerminal) {
        Set<Signal> stops = StopSignals.all();
        if (!onTerminal) {
            stops.remove(Signal.SIGHUP);
        }
        return stops;
    }

    private static boolean onTerminal() {
        for (Terminal.Standard stream : Terminal.Standard.values()) {
            if (Terminal.isTerminal(stream)) {
                return true;
            }
        }
        return false;
    }

    private static final class WhenConverter implements ITypeConverter<RestartPolicy.When> {
        @Override
        public RestartPolicy.When convert(String value) {
            for (RestartPolicy.When when : RestartPolicy.When.values()) {
                if (when.toString().equals(value)) {
                    return when;
                }
            }
            throw new TypeConversionException(
                    "must be never, on-failure or always, but is '" + value + "'");
        }
    }

    private final class Listener implements Supervisor.Listener {
        @Override
        public void event(String line) {
            if (!quiet) {
                say(line);
            }
        }

        @Override
        public void error(String line) {
            say(line);
        }
    }

    private void requireWithin(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Invalid value for option '%s': must be from %d to %d, but is %d"
                            .formatted(option, min, max, value));
        }
    }

    /// Prefixed, because the command writes to the same output.
    private void say(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("gyre: " + line);
        err.flush();
    }
}
