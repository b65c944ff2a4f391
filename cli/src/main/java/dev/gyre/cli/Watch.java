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

/// `gyre watch`: prints file changes until it is stopped.
@Command(
        name = "watch",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Prints file changes, one line each.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre watch [--flat] [--json] [--seconds N] PATH...",
        descriptionHeading = "%n",
        description = {
            "Watches directory trees, including directories created later, and single files. Each"
                    + " line has the time, the kind of change and the path, and is written at once."
                    + " Existing files are not listed. An idle watch uses no CPU time. Ctrl-C stops"
                    + " it. Messages of gyre itself go to standard error.",
            "",
            "Kinds of change:",
            "",
            "  CREATED   an entry was created, or moved in",
            "  MODIFIED  the contents of a file changed; several writes may be merged",
            "  WRITTEN   a file open for writing was closed",
            "  DELETED   an entry was deleted, or moved out",
            "  MOVED     an entry was renamed: old -> new",
            "  OVERFLOW  events were lost, or a subdirectory cannot be watched: rescan",
            "",
            "Writes to the file that standard output is redirected to are not reported; with `| tee"
                    + " FILE`, keep the file elsewhere. Control characters in names are escaped"
                    + " like \\u000a. Bytes of names that are invalid in the locale's encoding are"
                    + " omitted. Changes made by other machines on a network file system are not"
                    + " seen.",
            ""
        },
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the time of --seconds has elapsed",
            "1:a path cannot be watched, or all are gone; the reason is on standard error",
            "2:invalid command line",
            "129:stopped by SIGHUP (terminal closed)",
            "130:stopped by Ctrl-C",
            "141:the reader of its output has closed the pipe",
            "143:stopped by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre watch .",
            "  gyre watch src pom.xml                 a tree and a file",
            "  gyre watch --flat /etc                 its entries only",
            "  gyre watch --json . | jq .path         machine-readable",
            "  gyre watch src | head -1 && make       run once at the first change",
            ""
        })
final class Watch implements Callable<Integer> {
    private static final int MAX_SECONDS = 86_400 * 365;

    /// The max number of paths named in the first line.
    private static final int MAX_NAMED = 5;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "PATH",
            arity = "1..*",
            description = "Existing directories and files. Overlapping paths report changes twice.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private List<Path> paths;

    @Option(
            names = {"-f", "--flat"},
            description = "Watches only the direct entries of a directory.")
    private boolean flat;

    @Option(
            names = {"-j", "--json"},
            description =
                    "Prints a JSON object per change: time (UTC), kind, path and, for MOVED, from.")
    private boolean json;

    @Option(
            names = {"-s", "--seconds"},
            paramLabel = "N",
            description = "Stops after this many seconds, from 1 to 31536000. Default: no limit.")
    private @Nullable Integer seconds;

    // Loop thread only.
    private final RedirectedOutput own = RedirectedOutput.find();
    private final List<FileWatch> watches = new ArrayList<>();
    private long changes;
    private @Nullable End end;

    /// Why it stopped.
    private record End(String reason, int status) {}

    @Override
    public Integer call() {
        Set<Path> wanted = requirePaths();
        if (seconds != null && (seconds < 1 || seconds > MAX_SECONDS)) {
            throw misuse(
                    "Invalid value for option '--seconds': must be from 1 to "
                            + MAX_SECONDS
                            + ", but is "
                            + seconds);
        }
        for (Path path : wanted) {
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                return failed(
                        "Cannot watch "
                                + path
                                + ": no such file or directory, or no permission. To wait for a new"
                                + " file, watch its directory.");
            }
        }
        // No warnings: timers left at the end are normal here.
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName("watch")
                        .withFailurePolicy(FailurePolicy.PROPAGATE)
                        .withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config)) {
            return start(loop, wanted) ? run(loop) : 1;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            return failed(LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            return failed(String.valueOf(e.getMessage()));
        }
    }

    private Set<Path> requirePaths() {
        for (Path path : paths) {
            if (path.toString().isEmpty()) {
                throw misuse("A path is empty: write . for the current directory");
            }
        }
        return new LinkedHashSet<>(paths);
    }

    /// @return false if a path cannot be watched, which has been reported
    private boolean start(EventLoop loop, Set<Path> wanted) {
        StopSignals.on(loop, signal -> stop(loop, by(signal)));
        StandardOutput output =
                StandardOutput.watch(
                        loop,
                        spec.commandLine().getOut(),
                        () -> stop(loop, new End("", StopSignals.status(Signal.SIGPIPE))));
        for (Path path : wanted) {
            try {
                watches.add(watch(loop, path, change -> report(loop, output, change)));
            } catch (SystemCallException e) {
                int _ = failed(watchError(path, e));
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
                            timer -> stop(loop, new End("Time limit reached", 0)));
        }
        return true;
    }

    private FileWatch watch(EventLoop loop, Path path, Consumer<FileChange> callback) {
        return Files.isDirectory(path) && !flat
                ? FileWatch.tree(loop, path, callback)
                : FileWatch.on(loop, path, callback);
    }

    private int run(EventLoop loop) {
        say("Watching " + named(watches) + ". Press Ctrl-C to stop.");
        loop.run();
        End how = end;
        if (how == null) {
            return failed(ServerRunner.LOOP_STOPPED);
        }
        if (!how.reason.isEmpty()) {
            say(how.reason + ": " + changes + (changes == 1 ? " change." : " changes."));
        }
        return how.status;
    }

    private void report(EventLoop loop, StandardOutput output, FileChange change) {
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
            stop(loop, new End("No watched path is left", 1));
        }
    }

    private static End by(Signal signal) {
        return new End("Stopped by " + signal, StopSignals.status(signal));
    }

    /// Stops with the first reason.
    private void stop(EventLoop loop, End how) {
        if (end == null) {
            end = how;
            watches.forEach(FileWatch::close);
            loop.stop();
        }
    }

    /// Formats as in `src and everything below, notes.txt`.
    private String named(List<FileWatch> open) {
        String names =
                open.stream()
                        .limit(MAX_NAMED)
                        .map(FileWatch::path)
                        .map(
                                path ->
                                        Files.isDirectory(path) && !flat
                                                ? path + " and everything below"
                                                : path.toString())
                        .collect(Collectors.joining(", "));
        return open.size() <= MAX_NAMED
                ? names
                : names + " and " + (open.size() - MAX_NAMED) + " more";
    }

    static String watchError(Path path, SystemCallException refused) {
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
