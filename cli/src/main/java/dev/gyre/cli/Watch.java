package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.os.FileChange;
import dev.gyre.os.FileWatch;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// `gyre watch`: prints what happens to files, until it is stopped.
@Command(
        name = "watch",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Prints what happens to files, a line for each change.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre watch [--flat] [--json] [--seconds N] PATH...",
        descriptionHeading = "%n",
        description = {
            "Watches directories with everything below them, also what comes later, and single"
                + " files. A line has the time, what happened and the path, and is written at once;"
                + " what is there already is not told. Nothing is polled: while no file changes it"
                + " takes no processor time. Ctrl-C ends it. What it has to say itself goes to"
                + " standard error.",
            "",
            "What can happen:",
            "",
            "  CREATED   an entry appeared, or was moved in from elsewhere",
            "  MODIFIED  a file's contents changed; many writes may be told as one",
            "  WRITTEN   a file that was open for writing was closed: its writer is done",
            "  DELETED   an entry is gone, or was moved elsewhere",
            "  MOVED     an entry has another path: old -> new",
            "  OVERFLOW  changes came faster than they could be told, or a directory below",
            "            cannot be watched: look for yourself",
            "",
            "That it writes to the file its own output goes to is not told; with `| tee FILE`, keep"
                + " the file elsewhere. A name's control characters are shown like \\u000a. Of"
                + " names that are no text in the locale's encoding only the rest is shown. Changes"
                + " that other machines make on a network file system are not seen.",
            ""
        },
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the time of --seconds is up",
            "1:something cannot be watched, or nothing is left to watch; standard error says",
            "2:the command line makes no sense",
            "129:ended by SIGHUP: the terminal is gone",
            "130:ended by Ctrl-C",
            "141:nobody reads its output any more",
            "143:ended by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre watch .",
            "  gyre watch src pom.xml                 a tree and a file",
            "  gyre watch --flat /etc                 its entries, not what is below them",
            "  gyre watch --json . | jq .path         for machines",
            "  gyre watch src | head -1 && make       once something happens",
            ""
        })
final class Watch implements Callable<Integer> {
    private static final int MOST_SECONDS = 86_400 * 365;

    /// In the list of paths that are watched, on one line.
    private static final int MOST_NAMED = 5;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "PATH",
            arity = "1..*",
            description = "Directories and files that exist. What is in two of them is told twice.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private List<Path> paths;

    @Option(
            names = {"-f", "--flat"},
            description = "Only the entries of a directory, not what is below them.")
    private boolean flat;

    @Option(
            names = {"-j", "--json"},
            description =
                    "A JSON object for each change: time (UTC), kind, path and, of a move, from.")
    private boolean json;

    @Option(
            names = {"-s", "--seconds"},
            paramLabel = "N",
            description = "Ends after so many seconds, from 1 to 31536000. Default: when stopped.")
    private @Nullable Integer seconds;

    // Loop thread only.
    private final OwnOutput own = OwnOutput.find();
    private final List<FileWatch> watches = new ArrayList<>();
    private long changes;
    private @Nullable End end;

    /// Why it ended.
    private record End(String reason, int status) {}

    @Override
    public Integer call() {
        Set<Path> wanted = requirePaths();
        if (seconds != null && (seconds < 1 || seconds > MOST_SECONDS)) {
            throw misuse(
                    "Invalid value for option '--seconds': must be from 1 to "
                            + MOST_SECONDS
                            + ", but is "
                            + seconds);
        }
        for (Path path : wanted) {
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                return failed(
                        "Cannot watch "
                                + path
                                + ": there is no such file or directory, or not for this user. For"
                                + " one that is yet to come, watch the directory it will be in.");
            }
        }
        // Silent: a timer that is left over at the end is none of the user's concern.
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName("watch")
                        .withFailurePolicy(FailurePolicy.PROPAGATE)
                        .withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config)) {
            return begin(loop, wanted) ? run(loop) : 1;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            return failed("The loop could not go on (gyre doctor tells more): " + e);
        } catch (StopSignals.Refused e) {
            return failed("Signals cannot be taken: " + e.getMessage());
        }
    }

    private Set<Path> requirePaths() {
        for (Path path : paths) {
            if (path.toString().isEmpty()) {
                throw misuse("A path is empty: for the current directory it is '.'");
            }
        }
        return new LinkedHashSet<>(paths);
    }

    /// @return false if it cannot, which it has said then
    private boolean begin(EventLoop loop, Set<Path> wanted) {
        StopSignals.on(loop, signal -> stop(loop, by(signal)));
        OutputEnd output =
                OutputEnd.watch(
                        loop,
                        spec.commandLine().getOut(),
                        () -> stop(loop, new End("", StopSignals.status(Signal.SIGPIPE))));
        for (Path path : wanted) {
            try {
                watches.add(watch(loop, path, change -> tell(loop, output, change)));
            } catch (SystemCallException e) {
                int _ = failed(refusal(path, e));
                return false;
            } catch (UncheckedIOException e) {
                int _ = failed("Cannot watch " + path + ": " + e.getCause());
                return false;
            }
        }
        if (seconds != null) {
            Timer _ =
                    loop.after(
                            Duration.ofSeconds(seconds),
                            timer -> stop(loop, new End("Time is up", 0)));
        }
        return true;
    }

    private FileWatch watch(EventLoop loop, Path path, Consumer<FileChange> callback) {
        return Files.isDirectory(path) && !flat
                ? FileWatch.tree(loop, path, callback)
                : FileWatch.on(loop, path, callback);
    }

    private int run(EventLoop loop) {
        say("Watching " + named(watches) + ". Ctrl-C ends it.");
        loop.run();
        End how = end;
        if (how == null) {
            return failed("The loop has ended by itself.");
        }
        if (!how.reason.isEmpty()) {
            say(how.reason + ": " + changes + (changes == 1 ? " change." : " changes."));
        }
        return how.status;
    }

    // ------------------------------------------------------------------ on the loop

    private void tell(EventLoop loop, OutputEnd output, FileChange change) {
        if (change.kind() == FileChange.Kind.MODIFIED && own.includes(change.path())) {
            return;
        }
        changes++;
        Instant now = Instant.now();
        output.println(
                json
                        ? ChangeLine.json(now, change)
                        : ChangeLine.text(now, ZoneId.systemDefault(), change));
        if (watches.stream().noneMatch(FileWatch::isOpen)) {
            stop(loop, new End("Nothing is left to watch", 1));
        }
    }

    private static End by(Signal signal) {
        return new End("Ended by " + signal, StopSignals.status(signal));
    }

    /// The first reason counts.
    private void stop(EventLoop loop, End how) {
        if (end == null) {
            end = how;
            watches.forEach(FileWatch::close);
            loop.stop();
        }
    }

    // ------------------------------------------------------------------ what it says

    /// As in `src and everything below, notes.txt`.
    private String named(List<FileWatch> open) {
        String names =
                open.stream()
                        .limit(MOST_NAMED)
                        .map(FileWatch::path)
                        .map(
                                path ->
                                        Files.isDirectory(path) && !flat
                                                ? path + " and everything below"
                                                : path.toString())
                        .collect(Collectors.joining(", "));
        return open.size() <= MOST_NAMED
                ? names
                : names + " and " + (open.size() - MOST_NAMED) + " more";
    }

    static String refusal(Path path, SystemCallException refused) {
        return "Cannot watch " + path + ": " + refused.getMessage();
    }

    private ParameterException misuse(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int failed(String message) {
        say(message);
        return 1;
    }

    private void say(String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(message);
        err.flush();
    }
}
