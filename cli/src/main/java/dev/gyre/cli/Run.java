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

/// `gyre run`: keeps a command running.
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Keeps a command running: starts it again when it fails, passes signals on.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre run [OPTION...] [--] COMMAND [ARGUMENT...]",
        descriptionHeading = "%n",
        description = {
            "Starts a command and waits for its end. As --restart says it is then started again,"
                + " after a pause that doubles from --backoff to --max-backoff with each restart in"
                + " a row. A run of 10 seconds ends the row. Each event is a line on standard"
                + " error. Nothing is polled: while the command runs, gyre takes no processor"
                + " time.",
            "",
            "Signals to gyre:",
            "",
            "  SIGINT, SIGTERM    stop it: passed on to the command and all in its process",
            "                     group, SIGKILL after --stop-timeout, no restart. Sent",
            "                     again they are passed on again",
            "  SIGHUP             on a terminal, which is gone then, the same; elsewhere",
            "                     passed on to the command, as a request to reload",
            "  SIGUSR1            passed on to the command",
            "  SIGWINCH, SIGCONT  passed on to its process group",
            "",
            "Others are not passed on: the JVM needs SIGUSR2 and SIGQUIT for itself, and nobody can"
                + " catch SIGKILL and SIGSTOP. A gyre that is killed by SIGKILL leaves the command"
                + " running. Ctrl-Z stops gyre and not the command.",
            "",
            "The command has a process group of its own, so that Ctrl-C reaches it once, by way of"
                + " gyre. It has to stay in the foreground: what is left of the group when it ends"
                + " is sent SIGTERM. It gets gyre's standard input, unless that is a terminal,"
                + " which a group in the background may not read: then it reads from /dev/null."
                + " Output goes where gyre's goes.",
            ""
        },
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "N:that of the command's last run, 128 + signal if one ended it, also when stopped",
            "1:gyre itself failed; the reason is on standard error",
            "2:the command line makes no sense",
            "126:the command cannot be run",
            "127:the command was not found",
            "129, 130, 143:stopped by SIGHUP, SIGINT or SIGTERM in a pause, as nothing ran"
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

    private static final int MOST_MILLIS = 86_400_000;
    private static final int MOST_SECONDS = 86_400;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-r", "--restart"},
            paramLabel = "WHEN",
            defaultValue = "on-failure",
            converter = WhenReader.class,
            description =
                    "After which ends to start it again: never, on-failure or always. A failure is"
                        + " an exit status other than 0, or a signal. Default: ${DEFAULT-VALUE}.")
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
            description = "The longest pause, from 0 to 86400000. Default: ${DEFAULT-VALUE}.")
    private int maxBackoffMillis;

    @Option(
            names = {"-m", "--max-restarts"},
            paramLabel = "N",
            defaultValue = "" + RestartPolicy.NO_LIMIT,
            description = "Gives up after so many restarts in a row. Default: never.")
    private int maxRestarts;

    @Option(
            names = {"-t", "--stop-timeout"},
            paramLabel = "SECONDS",
            defaultValue = "10",
            description =
                    "How long a stopped command has before SIGKILL, from 0 to 86400."
                            + " Default: ${DEFAULT-VALUE}.")
    private int stopTimeoutSeconds;

    @Option(
            names = {"-q", "--quiet"},
            description = "Says nothing of what happens as it should.")
    private boolean quiet;

    @Parameters(
            paramLabel = "COMMAND",
            arity = "1..*",
            description =
                    "The command, looked up on the PATH, with its arguments; no shell reads it.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private List<String> command;

    // Loop thread only.
    private int status = 1;

    @Override
    public Integer call() {
        requireWithin("--backoff", backoffMillis, 0, MOST_MILLIS);
        requireWithin("--max-backoff", maxBackoffMillis, 0, MOST_MILLIS);
        requireWithin("--max-restarts", maxRestarts, 0, RestartPolicy.NO_LIMIT);
        requireWithin("--stop-timeout", stopTimeoutSeconds, 0, MOST_SECONDS);
        dev.gyre.os.Command toRun = toRun();
        // Silent: a timer that is left over at the end is none of the user's concern.
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName("run")
                        .withFailurePolicy(FailurePolicy.PROPAGATE)
                        .withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config)) {
            supervise(loop, toRun);
            return status;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            say("the loop could not go on (gyre doctor tells more): " + e);
            return 1;
        } catch (StopSignals.Refused e) {
            say("signals cannot be taken: " + e.getMessage());
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
                        found -> {
                            status = found;
                            loop.stop();
                        });
        Set<Signal> stops = stops(onTerminal());
        // Before the start: no signal is to end gyre and leave the command.
        StopSignals.on(loop, stops, supervisor::stop);
        Set<Signal> others = EnumSet.of(Signal.SIGHUP, Signal.SIGUSR1);
        others.removeAll(stops);
        StopSignals.on(loop, others, supervisor::pass);
        Set<Signal> terminals = EnumSet.of(Signal.SIGWINCH, Signal.SIGCONT);
        StopSignals.on(loop, terminals, supervisor::passToGroup);
        supervisor.start();
        loop.run();
    }

    /// SIGHUP means that the terminal is gone, if there was one.
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

    private static final class WhenReader implements ITypeConverter<RestartPolicy.When> {
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
        public void refusal(String line) {
            say(line);
        }
    }

    private void requireWithin(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Invalid value for option '%s': must be from %d to %d, but is %d"
                            .formatted(option, least, most, value));
        }
    }

    /// Marked as gyre's own: the command writes to the same place.
    private void say(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("gyre: " + line);
        err.flush();
    }
}
