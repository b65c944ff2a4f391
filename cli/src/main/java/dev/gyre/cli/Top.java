package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.cli.admin.AdminClient;
import dev.gyre.cli.admin.Json;
import dev.gyre.cli.admin.TopScreen;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.os.Signal;
import dev.gyre.os.StandardInput;
import dev.gyre.os.Terminal;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;

/// `gyre top`: shows the loops and connections of a running server.
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Shows the loops and connections of a running server, live.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre top [OPTION...] [ADDRESS]",
        descriptionHeading = "%n",
        description = {
            "Reads the figures of a server from its admin address every second. A loop that does"
                    + " not respond is highlighted.",
            "",
            "BUSY is the share of time that the loop did not wait for the kernel, since the last"
                    + " update. DELAY50, P99 and MAX are the task delay over about the last ten"
                    + " seconds. The first sample covers the time since the loop was opened. QUEUE"
                    + " is the number of queued tasks, MEMORY the buffer memory and its limit, and"
                    + " RUNNING the running callback.",
            "",
            "Keys: c connections, l loops, s next sort order, / filter connections, q quit.",
            "",
            "If standard input or output is not a terminal, it prints one snapshot, as with"
                    + " --once. The terminal needs 60 columns and 10 rows.",
            ""
        },
        parameterListHeading = "",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:ended by q or Ctrl-C, or printed a snapshot",
            "1:cannot reach the server; the reason is on standard error",
            "2:invalid command line"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre serve --admin 8081 site & gyre top",
            "  gyre top 9000                          a server with --admin 9000",
            "  gyre top unix:/run/gyre.sock           over a Unix domain socket",
            "  gyre top --once --connections          one list of connections",
            "  gyre top --json | jq '.loops[].utilization'",
            ""
        })
final class Top implements Callable<Integer> {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /// The width of a snapshot that does not go to a terminal.
    private static final int FILE_COLUMNS = 132;

    private static final int ESCAPE = 27;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "ADDRESS",
            arity = "0..1",
            defaultValue = AdminOptions.DEFAULT_ADDRESS,
            description =
                    "The admin address of the server, as given to its --admin: PORT, HOST:PORT,"
                            + " unix:PATH or a path with a slash. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private String address;

    @Option(
            names = {"-c", "--connections"},
            description = "Begins with the list of connections.")
    private boolean connections;

    @Option(names = "--once", description = "Prints one snapshot, after a second, and exits.")
    private boolean once;

    @Option(
            names = {"-j", "--json"},
            description =
                    "Prints one snapshot as JSON: the response to /loops, or with --connections"
                            + " that to /connections.")
    private boolean json;

    // Loop thread only.
    private int status;
    private boolean requesting;
    private @Nullable LocalTime goneSince;

    @Override
    public Integer call() {
        SocketAddress to = AdminOptions.parse(spec, address);
        // No warnings: timers left at the end are normal here.
        LoopConfig config = LoopConfig.DEFAULT.withName("top").withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config);
                AdminClient client = new AdminClient(loop, to, Addresses.show(to))) {
            StopSignals.on(loop, signal -> stop(loop, StopSignals.status(signal)));
            boolean live =
                    !once
                            && !json
                            && Terminal.isTerminal(Terminal.Standard.INPUT)
                            && Terminal.isTerminal(Terminal.Standard.OUTPUT);
            TopScreen screen = new TopScreen(Addresses.show(to), connections);
            // The first request, so that a wrong address is reported without a screen.
            Promise<?> _ =
                    client.get(json && connections ? "/connections?limit=1000" : "/loops")
                            .thenAccept(
                                    text -> {
                                        begin(loop, client, screen, text, live);
                                    })
                            .recover(
                                    failure -> {
                                        fail(loop, failure);
                                        return null;
                                    });
            loop.run();
            return status;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            print(spec.commandLine().getErr(), LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            print(spec.commandLine().getErr(), String.valueOf(e.getMessage()));
        }
        return 1;
    }

    private void begin(
            EventLoop loop, AdminClient client, TopScreen screen, String text, boolean live) {
        if (json) {
            Json _ = Json.parse(text); // throws if it is none
            print(spec.commandLine().getOut(), text.strip());
            loop.stop();
            return;
        }
        screen.updateLoops(Json.parse(text));
        if (live) {
            new Live(loop, client, screen).begin();
        } else {
            // Rates need two responses.
            loop.after(INTERVAL, _ -> printOnce(loop, client, screen));
        }
    }

    private void printOnce(EventLoop loop, AdminClient client, TopScreen screen) {
        Promise<?> _ =
                update(client, screen)
                        .thenAccept(
                                _ -> {
                                    int columns =
                                            Terminal.isTerminal(Terminal.Standard.OUTPUT)
                                                    ? Terminal.size()
                                                            .map(Terminal.Size::columns)
                                                            .orElse(FILE_COLUMNS)
                                                    : FILE_COLUMNS;
                                    screen.text(Math.max(columns, TopScreen.MIN_COLUMNS))
                                            .forEach(
                                                    line ->
                                                            spec.commandLine()
                                                                    .getOut()
                                                                    .println(line.text()));
                                    spec.commandLine().getOut().flush();
                                    loop.stop();
                                })
                        .recover(
                                failure -> {
                                    fail(loop, failure);
                                    return null;
                                });
    }

    /// Requests what the screen shows.
    private static Promise<@Nullable Void> update(AdminClient client, TopScreen screen) {
        Promise<String> loops = client.get("/loops");
        String path = screen.connectionsPath();
        return loops.thenCompose(
                text -> {
                    Json response = Json.parse(text);
                    Promise<String> list =
                            path == null ? Promise.resolved(client.loop(), "{}") : client.get(path);
                    return list.thenAccept(
                            found -> {
                                screen.updateConnections(Json.parse(found));
                                screen.updateLoops(response);
                            });
                });
    }

    private void fail(EventLoop loop, Throwable failure) {
        PrintWriter err = spec.commandLine().getErr();
        print(err, String.valueOf(failure.getMessage()));
        print(
                err,
                "Start the server with --admin, and name the same address here: gyre top ADDRESS");
        stop(loop, 1);
    }

    private void stop(EventLoop loop, int with) {
        status = with;
        loop.stop();
    }

    private static void print(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }

    /// The view on a terminal.
    private final class Live {
        private final EventLoop loop;
        private final AdminClient client;
        private final TopScreen screen;
        private final PrintWriter out = spec.commandLine().getOut();
        private final boolean colours = System.getenv("NO_COLOR") == null;

        Live(EventLoop loop, AdminClient client, TopScreen screen) {
            this.loop = loop;
            this.client = client;
            this.screen = screen;
        }

        void begin() {
            Terminal.Raw raw = Terminal.raw();
            out.print("\033[?1049h\033[?25l"); // The alternate screen, without a cursor.
            loop.own(
                    () -> {
                        out.print("\033[?25h\033[?1049l");
                        out.flush();
                        raw.close();
                    });
            StandardInput _ = StandardInput.on(loop, this::onKeys, loop::stop);
            StopSignals.on(loop, EnumSet.of(Signal.SIGWINCH), _ -> draw());
            loop.every(INTERVAL, _ -> refresh());
            refresh();
            draw();
        }

        private void onKeys(ByteBuffer bytes) {
            while (bytes.hasRemaining()) {
                byte key = bytes.get();
                if (key == ESCAPE && bytes.hasRemaining()) {
                    bytes.position(bytes.limit()); // An arrow or another special key.
                } else if (!screen.press((char) (key & 0xff))) {
                    loop.stop();
                    return;
                }
            }
            refresh();
            draw();
        }

        private void refresh() {
            if (requesting) {
                return;
            }
            requesting = true;
            Promise<?> _ =
                    update(client, screen)
                            .thenAccept(
                                    _ -> {
                                        goneSince = null;
                                    })
                            .recover(
                                    failure -> {
                                        gone(failure);
                                        return null;
                                    })
                            .thenAccept(
                                    _ -> {
                                        requesting = false;
                                        draw();
                                    });
        }

        private void gone(Throwable failure) {
            LocalTime since = goneSince;
            if (since == null) {
                since = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
                goneSince = since;
            }
            screen.fail("No response since " + since + ", retrying: " + failure.getMessage());
        }

        private void draw() {
            Terminal.Size size = Terminal.size().orElse(new Terminal.Size(80, 24));
            List<TopScreen.Line> lines = screen.draw(size.columns(), size.rows());
            StringBuilder frame = new StringBuilder("\033[H");
            for (int i = 0; i < lines.size(); i++) {
                TopScreen.Line line = lines.get(i);
                // Erases before the text: after a line of full width, that would erase its end.
                frame.append(i == 0 ? "" : "\r\n")
                        .append(begin(line.style()))
                        .append("\033[K")
                        .append(line.text())
                        .append("\033[0m");
            }
            out.print(frame.append("\033[J"));
            out.flush();
        }

        private String begin(TopScreen.Style style) {
            return switch (style) {
                case PLAIN -> "";
                case HEADER -> "\033[7m";
                case ALERT -> colours ? "\033[1;31m" : "\033[1m";
            };
        }
    }
}
