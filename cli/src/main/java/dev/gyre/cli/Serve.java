package dev.gyre.cli;

import dev.gyre.LoopConfig;
import dev.gyre.cli.serve.Demo;
import dev.gyre.cli.serve.ServerLoops;
import dev.gyre.http.AccessLog;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/// `gyre serve`: a web server, of a directory or of a demonstration.
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        defaultValueProvider = Serve.Defaults.class,
        header = "Serves a directory over HTTP, or without one a demonstration.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre serve [OPTION...] [DIR]",
        descriptionHeading = "%n",
        description = {
            "Serves the files of a directory: index.html for the directory itself, with ranges,"
                    + " conditions and compression. A change shows after 100 milliseconds at most."
                    + " Names that begin with a dot are not served, but for .well-known, nor are"
                    + " symbolic links.",
            "",
            "Without a directory it serves a page that shows what there is: /plaintext, /json,"
                + " /echo (the content back, up to --max-body), /large?bytes=N, /slow?ms=N (answers"
                + " later, without a thread), /events (server-sent), /ws/echo (WebSocket) and"
                + " /metrics (for Prometheus).",
            "",
            "The first line on standard output says where it is. Each loop has a thread, a"
                    + " listener, and its share of --max-connections, and the kernel spreads"
                    + " connections over them. While nobody asks for anything it takes no processor"
                    + " time.",
            "",
            "A connection is idle, for --idle-timeout, while no request has begun to come and none"
                + " is being answered. Other times are fixed: the head of a request has 10 seconds"
                + " from its first byte, its content 30 and more if it is long; some of an answer"
                + " has to be taken within 30; a silent WebSocket is pinged after 30 seconds, and"
                + " closed after 30 more.",
            "",
            "Ctrl-C stops listening, answers what was asked, ends event streams and WebSockets, and"
                    + " prints a summary. What takes longer than 10 seconds is cut off, or all at a"
                    + " second Ctrl-C.",
            ""
        },
        parameterListHeading = "",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "1:it cannot listen there, or use a file or directory; the reason is on standard error",
            "2:the command line makes no sense",
            "129:ended by SIGHUP: the terminal is gone",
            "130:ended by Ctrl-C",
            "143:ended by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre serve                             a demonstration: open",
            "      http://localhost:8080/",
            "  gyre serve site                        the files below site",
            "  gyre serve --listing --port 9000 .     and what directories have",
            "  gyre serve --host 0.0.0.0 site         for other machines too",
            "  gyre serve --access-log - site         with a line for each request",
            "  gyre serve --tls --port 8443           try it:",
            "      curl -k https://localhost:8443/json",
            "  gyre serve --unix /tmp/web.sock        try it:",
            "      curl --unix-socket /tmp/web.sock http://localhost/plaintext",
            "  gyre serve --max-body 1g               try it:",
            "      curl -T film.mp4 http://localhost:8080/echo | cmp - film.mp4",
            ""
        })
final class Serve implements Callable<Integer> {
    private static final int DEFAULT_PORT = 8080;
    private static final int MOST_LOOPS = 1_024;

    /// What no connection lives to see.
    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "DIR",
            arity = "0..1",
            description = "The directory whose files are served. Default: the demonstration.")
    private @Nullable String directory;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "The port to listen on; 0 lets the system choose. Default: 8080.")
    private @Nullable Integer port;

    @Option(
            names = {"-H", "--host"},
            paramLabel = "HOST",
            description =
                    "The address to listen on; 0.0.0.0 for all, :: for all of IPv6 too. Default:"
                            + " 127.0.0.1, for this machine alone.")
    private @Nullable String host;

    @Option(
            names = {"-u", "--unix"},
            paramLabel = "PATH",
            description = "Listens on a Unix domain socket instead.")
    private @Nullable String path;

    @Option(
            names = {"-n", "--loops"},
            paramLabel = "N",
            description =
                    "How many loops serve, each with a thread. Default: as many as there are"
                            + " processors; one for a Unix domain socket.")
    private @Nullable Integer loops;

    @Option(
            names = {"-l", "--access-log"},
            paramLabel = "FILE",
            description =
                    "Appends a line for each request to a file; - for standard output, none or off"
                            + " for no log, which is the default. Write ./none for a file of"
                            + " that name.")
    private @Nullable String accessLog;

    @Option(
            names = "--listing",
            description = "Answers for directories without an index.html with what they have.")
    private boolean listing;

    @Option(
            names = "--cache-control",
            paramLabel = "TEXT",
            description =
                    "What the Cache-Control field of files says, such as max-age=3600. Default:"
                            + " there is none.")
    private @Nullable String cacheControl;

    @Option(
            names = "--max-body",
            paramLabel = "BYTES",
            defaultValue = "1m",
            converter = Sizes.class,
            description =
                    "How much content a request may have: 64k, 10m, 2g. More is answered with 413."
                            + " Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Long maxBody;

    @Option(
            names = "--until-input-ends",
            hidden = true, // for whoever starts it and may be killed
            description = "Ends when standard input does.")
    private boolean untilInputEnds;

    @Option(
            names = "--rehearse",
            hidden = true, // for the launcher, which makes the start-up cache of it
            description = "Asks itself for everything, and ends.")
    private boolean rehearsing;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private ServerOptions options;

    /// Connections of HTTP are kept for as long as its servers usually do, not for ever as others are.
    static final class Defaults implements IDefaultValueProvider {
        @Override
        public @Nullable String defaultValue(ArgSpec argument) {
            return argument instanceof OptionSpec option
                            && option.longestName().equals("--idle-timeout")
                    ? "60s"
                    : null;
        }
    }

    @Override
    public Integer call() {
        SocketAddress where = where();
        int count = count();
        HttpConfig http = http();
        ListenerConfig open = listener(count);
        requireNames();
        if (directory == null && (listing || cacheControl != null)) {
            throw options.misuse(
                    "--listing and --cache-control are for a directory, which is not there");
        }
        Path root = null;
        ListenerConfig config;
        try {
            if (directory != null) {
                root = root(directory);
            }
            config = options.secured(open);
        } catch (NotDirectoryException e) {
            return complain("Cannot serve " + e.getMessage());
        } catch (IOException e) {
            return complain("Cannot speak TLS: " + e.getMessage());
        }
        try (AccessLog log = log()) {
            return serve(new Plan(where, count, http, config, root), log);
        } catch (IOException e) {
            return complain("Cannot write the access log %s: %s".formatted(accessLog, why(e)));
        }
    }

    private void requireNames() {
        if (directory != null && directory.isEmpty()) {
            throw options.misuse("DIR is empty: for the current directory it is '.'");
        }
        if (accessLog != null) {
            options.notEmpty("--access-log", accessLog);
        }
        if (cacheControl != null && !cacheControl.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            throw options.misuse(
                    "Invalid value for option '--cache-control': '%s' is not of printable ASCII"
                                    .formatted(cacheControl)
                            + " alone, which a field of HTTP has to be");
        }
    }

    private int complain(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
        return 1;
    }

    // ------------------------------------------------------------------ what is wanted

    private SocketAddress where() {
        String unix = path;
        if (unix != null) {
            if (port != null || host != null) {
                throw options.misuse(
                        "Both --unix and --port or --host: a server listens in one place");
            }
            options.notEmpty("--unix", unix);
            return options.address(() -> Addresses.unix(unix));
        }
        if (port != null && (port < 0 || port > Addresses.MOST_PORT)) {
            throw options.misuse(
                    "Invalid value for option '--port': a port is from 0 to %d, but this is %d"
                            .formatted(Addresses.MOST_PORT, port));
        }
        // An empty one would be all addresses.
        String name = host == null ? "127.0.0.1" : options.notEmpty("--host", host);
        String bracketed = name.indexOf(':') < 0 || name.startsWith("[") ? name : "[" + name + "]";
        return options.address(
                () -> Addresses.toListenOn(bracketed + ":" + (port == null ? DEFAULT_PORT : port)));
    }

    private int count() {
        int wanted =
                loops != null
                        ? options.atLeastOne("--loops", loops)
                        : path != null ? 1 : Runtime.getRuntime().availableProcessors();
        if (wanted > MOST_LOOPS) {
            throw options.misuse(
                    "Invalid value for option '--loops': must be at most %d, but is %d"
                            .formatted(MOST_LOOPS, wanted));
        }
        if (path != null && wanted > 1) {
            throw options.misuse("Both --unix and --loops: a path has one listener");
        }
        Integer most = options.maxConnections();
        return most == null ? wanted : Math.clamp(most, 1, wanted);
    }

    private HttpConfig http() {
        if (maxBody < 1) {
            throw options.misuse("Invalid value for option '--max-body': must be at least 1");
        }
        Duration idle = options.idleTimeout();
        return HttpConfig.DEFAULT
                .withMaxBody(maxBody)
                .withIdleTimeout(idle.isZero() ? FOR_EVER : idle);
    }

    private ListenerConfig listener(int count) {
        // When a connection is idle only HTTP knows: nothing moves while an answer is waited for.
        ListenerConfig config = options.listener().withStreams(StreamConfig.DEFAULT);
        Integer most = options.maxConnections();
        return most == null ? config : config.withMaxConnections(Math.ceilDiv(most, count));
    }

    private FilesConfig files() {
        FilesConfig config = FilesConfig.DEFAULT.withListing(listing);
        return cacheControl == null ? config : config.withCacheControl(cacheControl);
    }

    private static Path root(String name) throws NotDirectoryException {
        try {
            Path root = Path.of(name);
            if (Files.isDirectory(root)) {
                if (Files.isReadable(root)) {
                    return root;
                }
                throw new NotDirectoryException(name + ": it may not be read: chmod a+rx it");
            }
            throw new NotDirectoryException(
                    name
                            + (Files.exists(root)
                                    ? ": it is no directory: name the one that it is in"
                                    : ": there is no such directory: make it, or name another"));
        } catch (InvalidPathException e) {
            throw new NotDirectoryException(name + ": it is no path: " + e.getReason());
        }
    }

    private @Nullable AccessLog log() throws IOException {
        if (accessLog == null || accessLog.equals("none") || accessLog.equals("off")) {
            return null;
        }
        if (accessLog.equals("-")) {
            return AccessLog.common(linesTo(spec.commandLine().getOut()));
        }
        try {
            return AccessLog.common(Path.of(accessLog));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /// Writes lines at once, and throws if that fails, so that they are counted as lost.
    static Consumer<String> linesTo(PrintWriter out) {
        return line -> {
            out.println(line);
            if (out.checkError()) { // Flushes, and says what println keeps to itself.
                throw new IllegalStateException("standard output takes no more");
            }
        };
    }

    private static String why(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "there is no such directory: make it";
            case AccessDeniedException _ -> "it may not be written: choose another file";
            case FileSystemException failure when failure.getReason() != null ->
                    failure.getReason() + ": choose another file";
            default -> String.valueOf(e.getMessage());
        };
    }

    // ------------------------------------------------------------------ serving

    /// @param root of the files; null for the demonstration
    private record Plan(
            SocketAddress where,
            int count,
            HttpConfig http,
            ListenerConfig config,
            @Nullable Path root) {}

    private int serve(Plan plan, @Nullable AccessLog log) {
        return Serving.open(
                spec.commandLine(),
                () -> ServerLoops.open(plan.count, loop(), plan.http),
                serving -> {
                    if (log != null) {
                        serving.notes(log);
                    }
                    if (untilInputEnds) {
                        serving.endWithInput();
                    }
                    if (rehearsing) {
                        serving.rehearse();
                    }
                    return serving.serve(
                            addSite(serving.loops(), plan.root), plan.where, plan.config);
                });
    }

    /// Requests are short and come in crowds: where a thousand are there at once, more buffers that are smaller
    /// have them wait less for one.
    private LoopConfig loop() {
        return options.loop("serve").withReceiveBuffers(256, 8 << 10);
    }

    /// @return what it is, in a word or two
    private String addSite(ServerLoops loops, @Nullable Path root) {
        if (root == null) {
            Demo demo = new Demo(loops);
            loops.forEach(demo::addTo);
            return "Demo";
        }
        loops.forEach(server -> server.files("/", root, files()));
        return "Serving " + root;
    }
}
