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

/// `gyre ticks`: runs a loop for a while and shows its activity.
@Command(
        name = "ticks",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Runs a loop for a few seconds and shows its latency and throughput.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre ticks [--seconds N] [--every MILLIS] [--load N]",
        descriptionHeading = "%n",
        description = {
            "Runs a loop on its own thread with three sources of work: a task every 2 ms from a"
                    + " thread that finds it asleep, a repeating timer of 5 ms, and the tasks of"
                    + " --load. On a terminal one line is rewritten in place; elsewhere a line is"
                    + " printed per refresh. A summary follows. Ctrl-C ends the run early, with the"
                    + " summary.",
            "",
            "Columns:",
            "",
            "  ticks/s   ticks of the loop: clock, timers, tasks, poll, events. A tick that",
            "            ran something is followed by one that polls without sleeping",
            "  wake p50  latency from a submission to the sleeping loop until the task",
            "  wake p99  runs: median and 99th percentile. A dash if the loop was never",
            "            found asleep",
            "  late p50  lateness of the timer, which never fires early:",
            "  late max  median and max",
            "  depth     max number of queued tasks",
            "  wakes/s   signals that wake the sleeping loop, each a system call; a",
            "            submission to a running loop needs none",
            "  tasks/s   tasks run: those of --load, and up to 500 probes",
            "",
            "The first second is slower because the JVM has not compiled the loop yet. On a busy"
                    + " machine, p99 and max measure its scheduler more than the loop.",
            ""
        },
        optionListHeading = "Options:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the run completed",
            "1:the loop could not be opened, or failed; the reason is on standard error",
            "2:invalid command line",
            "129:stopped by SIGHUP (terminal closed)",
            "130:stopped by Ctrl-C",
            "143:stopped by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre ticks",
            "  gyre ticks --load 0                    almost idle: timer and probes only",
            "  gyre ticks --seconds 60 --load 200000  under load: depth grows, wakes/s hardly",
            "  gyre ticks --every 1000 >ticks.txt     one line per second, into a file",
            ""
        })
final class Ticks implements Callable<Integer> {
    private static final int MAX_SECONDS = 86_400;
    private static final int MIN_EVERY_MILLIS = 20;
    private static final int MAX_EVERY_MILLIS = 60_000;
    private static final int MAX_LOAD = 1_000_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-s", "--seconds"},
            paramLabel = "N",
            defaultValue = "5",
            description = "Duration of the run, from 1 to 86400. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = {"-e", "--every"},
            paramLabel = "MILLIS",
            defaultValue = "250",
            description =
                    "Refresh interval, from 20 to 60000 and not longer than the run."
                            + " Default: ${DEFAULT-VALUE}.")
    private int everyMillis;

    @Option(
            names = {"-l", "--load"},
            paramLabel = "N",
            defaultValue = "1000",
            description =
                    "Empty tasks to submit per second, from 0 to 1000000, in bursts of one"
                            + " millisecond. Default: ${DEFAULT-VALUE}.")
    private int load;

    @Override
    public Integer call() throws InterruptedException {
        requireWithin("--seconds", seconds, 1, MAX_SECONDS);
        requireWithin("--every", everyMillis, MIN_EVERY_MILLIS, MAX_EVERY_MILLIS);
        requireWithin("--load", load, 0, MAX_LOAD);
        if (everyMillis > seconds * 1_000L) {
            throw misuse(
                    "--every", everyMillis + " ms is longer than the run of " + seconds + " s");
        }
        // No warnings: the samples contain what the default observer would log.
        LoopConfig config =
                LoopConfig.DEFAULT.withName("ticks").withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config)) {
            TicksRun run = new TicksRun(loop, load, spec.commandLine().getOut());
            Throwable failure = run.run(seconds, everyMillis);
            if (failure != null) {
                return failed("The event loop failed: " + failure);
            }
            Signal stoppedBy = run.stoppedBy();
            return stoppedBy == null ? 0 : StopSignals.status(stoppedBy);
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            return failed(LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            return failed(String.valueOf(e.getMessage()));
        }
    }

    private void requireWithin(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw misuse(option, "must be from " + min + " to " + max + ", but is " + value);
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
