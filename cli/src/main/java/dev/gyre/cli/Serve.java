package dev.gyre.cli;

import dev.gyre.LoopConfig;
import dev.gyre.cli.serve.Demo;
import dev.gyre.cli.serve.WebServer;
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

/// `gyre serve`: an HTTP server for a directory or the demo.
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        defaultValueProvider = Serve.Defaults.class,
        header = "Serves a directory over HTTP, or a demo if no directory is given.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre serve [OPTION...] [DIR]",
        descriptionHeading = "%n",
        description = {
            "Serves the files of a directory, with index.html, ranges, conditional requests and"
                    + " compression. Changes become visible within 100 ms. Symbolic links and dot"
                    + " files, except .well-known, are not served.",
            "",
            "Without a directory it serves a demo page with these endpoints: /plaintext, /json,"
                    + " /echo (returns the request body, up to --max-body), /large?bytes=N,"
                    + " /slow?ms=N (responds later without blocking a thread), /events"
                    + " (server-sent events), /ws/echo (WebSocket) and /metrics (Prometheus).",
            "",
            "The first line on standard output is the URL. Connections are distributed over the"
                    + " loops; --max-connections applies to all of them together. An idle server"
                    + " uses no CPU time, except for the watchdog (--stall-limit).",
            "",
            "--idle-timeout applies between requests. Other timeouts are fixed: 10 s for a request"
                    + " head, 30 s for a body (longer for large bodies), and 30 s for a client that"
                    + " reads none of a response. A WebSocket is pinged after 30 s of silence and"
                    + " closed 30 s later.",
            "",
            "Ctrl-C stops listening, finishes running requests, closes event streams and"
                    + " WebSockets, and prints a summary. Connections still open after 10 s, or at"
                    + " a second Ctrl-C, are reset.",
            "",
            "SIGHUP reopens the access log and reloads the certificate. If that fails, the previous"
                + " file stays in use and standard error has the reason. If SIGHUP means that the"
                + " terminal was closed, the server stops as with Ctrl-C. Log entries go to"
                + " standard error.",
            ""
        },
        parameterListHeading = "",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "1:cannot listen, or cannot use a file or directory; the reason is on standard error",
            "2:invalid command line",
            "129:stopped because the terminal was closed (SIGHUP)",
            "130:stopped by Ctrl-C",
            "143:stopped by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre serve                             the demo: open",
            "      http://localhost:8080/",
            "  gyre serve site                        the files below site",
            "  gyre serve --listing --port 9000 .     with directory listings",
            "  gyre serve --host 0.0.0.0 site         reachable from other machines",
            "  gyre serve --access-log - site         log requests to standard output",
            "  gyre serve --admin 8081 site           then run gyre top, or open",
            "      http://localhost:8081/",
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

    private static final Duration NO_TIMEOUT = Duration.ofDays(36_500);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "DIR",
            arity = "0..1",
            description = "The directory to serve. Default: the demo.")
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
                    "The address to listen on; 0.0.0.0 for all IPv4 addresses, :: for IPv6 as well."
                            + " Default: 127.0.0.1 (this machine only).")
    private @Nullable String host;

    @Option(
            names = {"-u", "--unix"},
            paramLabel = "PATH",
            description = "Listens on a Unix domain socket instead.")
    private @Nullable String path;

    @Option(
            names = {"-l", "--access-log"},
            paramLabel = "FILE",
            description =
                    "Appends a line per request to this file; - for standard output, none or off to"
                            + " disable. Write ./none for a file with that name. Default: none.")
    private @Nullable String accessLog;

    @Option(
            names = "--listing",
            description = "Lists the files of directories without an index.html.")
    private boolean listing;

    @Option(
            names = "--cache-control",
            paramLabel = "TEXT",
            description =
                    "The Cache-Control header of files, such as max-age=3600. Default: no header.")
    private @Nullable String cacheControl;

    @Option(
            names = "--max-body",
            paramLabel = "BYTES",
            defaultValue = "1m",
            converter = Sizes.class,
            description =
                    "The max size of a request body: 64k, 10m, 2g. Larger requests get 413."
                            + " Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Long maxBody;

    @Option(
            names = "--until-input-ends",
            hidden = true, // for a parent process that may be killed
            description = "Stops at the end of standard input.")
    private boolean untilInputEnds;

    @Option(
            names = "--train",
            hidden = true, // for the launcher, which records the start-up cache
            description = "Sends training requests to itself, and stops.")
    private boolean training;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private ServerOptions options;

    /// HTTP connections have an idle timeout by default, unlike other streams.
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
        int count = path == null ? options.loops() : options.loops(1);
        HttpConfig http = http();
        ListenerConfig open = listener();
        requireNames();
        if (directory == null && (listing || cacheControl != null)) {
            throw options.misuse("--listing and --cache-control need a directory: add DIR");
        }
        Path root = null;
        ListenerConfig config;
        try {
            if (directory != null) {
                root = root(directory);
            }
            config = options.secured(open);
        } catch (NotDirectoryException e) {
            return printError("Cannot serve " + e.getMessage());
        } catch (IOException e) {
            return printError("Cannot set up TLS: " + e.getMessage());
        }
        try (AccessLog log = log()) {
            return serve(new Plan(where, count, http, config, root), log);
        } catch (IOException e) {
            return printError("Cannot write the access log %s: %s".formatted(accessLog, why(e)));
        }
    }

    private void requireNames() {
        if (directory != null && directory.isEmpty()) {
            throw options.misuse("DIR is empty: write . for the current directory");
        }
        if (accessLog != null) {
            options.notEmpty("--access-log", accessLog);
        }
        if (cacheControl != null && !cacheControl.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            throw options.misuse(
                    "Invalid value for option '--cache-control': '%s' contains characters other"
                                    .formatted(cacheControl)
                            + " than printable ASCII");
        }
    }

    private int printError(String line) {
        options.log().printError(line);
        return 1;
    }

    private SocketAddress where() {
        String unix = path;
        if (unix != null) {
            if (port != null || host != null) {
                throw options.misuse("--unix excludes --port and --host");
            }
            options.notEmpty("--unix", unix);
            return options.address(() -> Addresses.unix(unix));
        }
        if (port != null && (port < 0 || port > Addresses.MAX_PORT)) {
            throw options.misuse(
                    "Invalid value for option '--port': must be from 0 to %d, but is %d"
                            .formatted(Addresses.MAX_PORT, port));
        }
        // An empty host would mean all addresses.
        String name = host == null ? "127.0.0.1" : options.notEmpty("--host", host);
        String bracketed = name.indexOf(':') < 0 || name.startsWith("[") ? name : "[" + name + "]";
        return options.address(
                () -> Addresses.toListenOn(bracketed + ":" + (port == null ? DEFAULT_PORT : port)));
    }

    private HttpConfig http() {
        if (maxBody < 1) {
            throw options.misuse("Invalid value for option '--max-body': must be at least 1");
        }
        Duration idle = options.idleTimeout();
        return HttpConfig.DEFAULT
                .withMaxBody(maxBody)
                .withIdleTimeout(idle.isZero() ? NO_TIMEOUT : idle);
    }

    private ListenerConfig listener() {
        // Only HTTP knows when a connection is idle: no bytes flow while a handler works.
        return options.listener().withStreams(StreamConfig.DEFAULT);
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
                throw new NotDirectoryException(name + ": permission denied: chmod a+rx it");
            }
            throw new NotDirectoryException(
                    name
                            + (Files.exists(root)
                                    ? ": not a directory: name its parent directory"
                                    : ": no such directory: create it, or name another"));
        } catch (InvalidPathException e) {
            throw new NotDirectoryException(name + ": not a path: " + e.getReason());
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

    /// Writes each line at once, and throws if that fails, so that the line counts as dropped.
    static Consumer<String> linesTo(PrintWriter out) {
        return line -> {
            out.println(line);
            if (out.checkError()) { // Flushes, and reports an error that println hides.
                throw new IllegalStateException("cannot write to standard output");
            }
        };
    }

    private static String why(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "no such directory: create it";
            case AccessDeniedException _ -> "permission denied: choose another file";
            case FileSystemException failure when failure.getReason() != null ->
                    failure.getReason() + ": choose another file";
            default -> String.valueOf(e.getMessage());
        };
    }

    /// @param root the directory to serve; `null` for the demo
    private record Plan(
            SocketAddress where,
            int count,
            HttpConfig http,
            ListenerConfig config,
            @Nullable Path root) {}

    private int serve(Plan plan, @Nullable AccessLog log) {
        return WebServerRunner.open(
                options.log(),
                plan.count,
                loop(),
                plan.http,
                runner -> {
                    if (log != null) {
                        runner.logTo(options.isVerbose() ? log.withConnectionIds() : log);
                        if (!"-".equals(accessLog)) {
                            runner.onHangUp("the access log " + accessLog, log::reopen);
                        }
                    }
                    options.configure(runner, plan.config);
                    if (untilInputEnds) {
                        runner.stopWithInput();
                    }
                    if (training) {
                        runner.train();
                    }
                    return runner.serve(addSite(runner.web(), plan.root), plan.where, plan.config);
                });
    }

    /// Uses more and smaller receive buffers: requests are short, and a burst of a thousand waits
    /// less for a buffer.
    private LoopConfig loop() {
        return options.loop("serve").withReceiveBuffers(256, 8 << 10);
    }

    /// @return the name of the site for the announcement
    private String addSite(WebServer web, @Nullable Path root) {
        if (root == null) {
            Demo.addTo(web);
            return "Demo";
        }
        web.server().files("/", root, files());
        return "Serving " + root;
    }
}
