package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.os.Signal;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

/// `gyre ticks`: runs a loop for a while and shows how it ticks.
@Command(
        name = "ticks",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Runs a loop for a few seconds and shows how it ticks.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre ticks [--seconds N] [--every MILLIS] [--load N]",
        descriptionHeading = "%n",
        description = {
            "A loop runs on a thread of its own and is given three things to do: a task every 2 ms"
                + " from a thread that finds it asleep, a repeating timer of 5 ms, and the tasks of"
                + " --load. On a terminal one line is rewritten in place, elsewhere a line is"
                + " printed for each refresh. A summary of the whole run follows. Ctrl-C ends the"
                + " run early, with the summary.",
            "",
            "What the figures mean:",
            "",
            "  ticks/s   turns of the loop: clock, timers, tasks, wait, events. After a",
            "            turn that ran something comes one that looks without sleeping",
            "  wake p50  from when another thread submits a task to the sleeping loop",
            "  wake p99  until the task runs: the median, and what 99 of 100 stay within.",
            "            A dash if the loop was never found asleep",
            "  late p50  how long after its deadline the timer fires, which is never",
            "  late max  before: the median and the worst",
            "  depth     the most tasks seen waiting behind one that runs",
            "  wakes/s   signals written to wake the sleeping loop, each a system call;",
            "            a task for a loop that is running needs none",
            "  tasks/s   tasks run: those of --load, and up to 500 that find it asleep",
            "",
            "The first second is slower than the rest, as the JVM has not compiled the loop yet. On"
                + " a machine that is busy otherwise, p99 and max tell more of its scheduler than"
                + " of the loop.",
            ""
        },
        optionListHeading = "Options:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the loop ran to the end",
            "1:it could not be opened, or it failed; the reason is on standard error",
            "2:the command line makes no sense",
            "129:ended by SIGHUP: the terminal is gone",
            "130:ended by Ctrl-C",
            "143:ended by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre ticks",
            "  gyre ticks --load 0                    next to idle: timer and wake-ups alone",
            "  gyre ticks --seconds 60 --load 200000  under load: depth grows, wakes/s hardly",
            "  gyre ticks --every 1000 >ticks.txt     one line a second, into a file",
            ""
        })
final class Ticks implements Callable<Integer> {
    private static final int MOST_SECONDS = 86_400;
    private static final int LEAST_EVERY_MILLIS = 20;
    private static final int MOST_EVERY_MILLIS = 60_000;
    private static final int MOST_LOAD = 1_000_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-s", "--seconds"},
            paramLabel = "N",
            defaultValue = "5",
            description = "How long to run, from 1 to 86400. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = {"-e", "--every"},
            paramLabel = "MILLIS",
            defaultValue = "250",
            description =
                    "How often to refresh the line, from 20 to 60000 and not longer than the run."
                            + " Default: ${DEFAULT-VALUE}.")
    private int everyMillis;

    @Option(
            names = {"-l", "--load"},
            paramLabel = "N",
            defaultValue = "1000",
            description =
                    "How many empty tasks a second to submit, from 0 to 1000000, in bursts of a"
                            + " millisecond's worth. Default: ${DEFAULT-VALUE}.")
    private int load;

    @Override
    public Integer call() throws InterruptedException {
        requireWithin("--seconds", seconds, 1, MOST_SECONDS);
        requireWithin("--every", everyMillis, LEAST_EVERY_MILLIS, MOST_EVERY_MILLIS);
        requireWithin("--load", load, 0, MOST_LOAD);
        if (everyMillis > seconds * 1_000L) {
            throw misuse(
                    "--every",
                    everyMillis + " ms is longer than the whole run of " + seconds + " s");
        }
        // Silent: what the default observer would log into the live line is among the figures.
        LoopConfig config =
                LoopConfig.DEFAULT.withName("ticks").withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config)) {
            LiveRun run = new LiveRun(loop, load, spec.commandLine().getOut());
            Throwable failure = run.run(seconds, everyMillis);
            if (failure != null) {
                return failed("The loop failed: " + failure);
            }
            Signal stoppedBy = run.stoppedBy();
            return stoppedBy == null ? 0 : StopSignals.status(stoppedBy);
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            return failed("The loop could not be opened (gyre doctor tells more): " + e);
        } catch (StopSignals.Refused e) {
            return failed("Signals cannot be taken: " + e.getMessage());
        }
    }

    private void requireWithin(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw misuse(option, "must be from " + least + " to " + most + ", but is " + value);
        }
    }

    private ParameterException misuse(String option, String message) {
        return new ParameterException(
                spec.commandLine(), "Invalid value for option '" + option + "': " + message);
    }

    private int failed(String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(message);
        err.flush();
        return 1;
    }
}
