package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.cli.admin.AdminClient;
import dev.gyre.cli.admin.Figures;
import dev.gyre.cli.admin.Json;
import dev.gyre.http.JsonMapper;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/// `gyre trace`: records what the connections of a running server do.
@Command(
        name = "trace",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Prints what a connection of a running server does, as it happens.",
        synopsisHeading = "%nUsage: ",
        customSynopsis =
                "gyre trace [OPTION...] [ADDRESS] (--connection ID | --peer IP | --route PATTERN |"
                        + " --all)",
        descriptionHeading = "%n",
        description = {
            "Starts a trace at the server's admin address, prints each event, and stops the trace"
                    + " at the end: Ctrl-C, --for, or a closed pipe. Events are the opening and"
                    + " closing of connections, input and output, pauses, timeouts, errors,"
                    + " requests and responses, each with the connection's id.",
            "",
            "Reads the trace twice a second. On a busy server some events are lost. Starting"
                    + " another trace replaces this one.",
            ""
        },
        parameterListHeading = "",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the time given by --for has passed",
            "1:cannot reach the server, or it refuses; the reason is on standard error",
            "2:invalid command line",
            "130:stopped by Ctrl-C"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre trace --connection 42             the id is in gyre top and in -v logs",
            "  gyre trace 9000 --route '/users/{id}' --for 30s",
            "  gyre trace unix:/run/gyre.sock --peer 203.0.113.7 --json",
            ""
        })
final class Trace implements Callable<Integer> {
    private static final Duration INTERVAL = Duration.ofMillis(500);

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

    @ArgGroup(multiplicity = "1")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private Filter filter;

    /// What is traced. Exactly one.
    static final class Filter {
        @Option(names = "--connection", paramLabel = "ID", description = "Traces one connection.")
        private @Nullable Long connection;

        @Option(
                names = "--peer",
                paramLabel = "IP",
                description = "Traces the connections of a client address.")
        private @Nullable String peer;

        @Option(
                names = "--route",
                paramLabel = "PATTERN",
                description =
                        "Traces the requests of a route, such as '/users/{id}', from the moment"
                                + " that the route is found.")
        private @Nullable String route;

        @Option(names = "--all", description = "Traces all connections.")
        private boolean all;

        String form() {
            if (connection != null) {
                return "connection=" + connection;
            }
            if (peer != null) {
                return "peer=" + encoded(peer);
            }
            return route == null ? "all=" + all : "route=" + encoded(route);
        }

        private static String encoded(String value) {
            return URLEncoder.encode(value, StandardCharsets.UTF_8);
        }
    }

    @Option(
            names = {"-j", "--json"},
            description =
                    "Prints a JSON object per event: time, loop, connection, kind and detail.")
    private boolean json;

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            converter = Durations.class,
            description = "Stops after this time: 250ms, 30s, 5m. Default: no limit.")
    private @Nullable Duration limit;

    // Loop thread only.
    private int status = 1;
    private boolean started;
    private boolean ending;
    private boolean requesting;

    private final Events events = new Events();

    @Override
    public Integer call() {
        SocketAddress to = AdminOptions.parse(spec, address);
        if (limit != null && limit.isZero()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Invalid value for option '--for': must be longer than zero");
        }
        // No warnings: timers left at the end are normal here.
        LoopConfig config =
                LoopConfig.DEFAULT.withName("trace").withObserver(new LoopObserver() {});
        try (EventLoop loop = EventLoop.open(config);
                AdminClient client = new AdminClient(loop, to, Addresses.show(to))) {
            StopSignals.on(loop, signal -> end(client, StopSignals.status(signal)));
            StandardOutput out =
                    StandardOutput.watch(
                            loop,
                            spec.commandLine().getOut(),
                            () -> end(client, StopSignals.status(Signal.SIGPIPE)));
            Promise<?> _ =
                    known(client)
                            .thenCompose(_ -> client.send("POST", "/trace", filter.form()))
                            .thenAccept(
                                    _ -> {
                                        begin(client, out);
                                    })
                            .recover(failure -> fail(client, failure));
            loop.run();
            return status;
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            printError(LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            printError(String.valueOf(e.getMessage()));
        }
        return 1;
    }

    /// Rejects an id that no connection has: its trace would stay empty.
    private Promise<String> known(AdminClient client) {
        return filter.connection == null
                ? Promise.resolved(client.loop(), "")
                : client.get("/connections/" + filter.connection);
    }

    private void begin(AdminClient client, StandardOutput out) {
        started = true;
        if (ending) {
            stop(client, status);
            return;
        }
        client.loop().every(INTERVAL, _ -> poll(client, out));
        if (limit != null) {
            client.loop().after(limit, _ -> lastPoll(client, out));
        }
    }

    private void poll(AdminClient client, StandardOutput out) {
        if (requesting || ending) {
            return;
        }
        requesting = true;
        Promise<?> _ =
                print(client, out)
                        .thenAccept(
                                _ -> {
                                    requesting = false;
                                })
                        .recover(failure -> fail(client, failure));
    }

    private void lastPoll(AdminClient client, StandardOutput out) {
        Promise<?> _ =
                print(client, out)
                        .thenAccept(
                                _ -> {
                                    end(client, 0);
                                })
                        .recover(failure -> fail(client, failure));
    }

    /// Prints the events that the previous response did not contain.
    private Promise<@Nullable Void> print(AdminClient client, StandardOutput out) {
        return client.get("/trace?format=json&limit=10000")
                .thenAccept(
                        text -> {
                            events.update(Json.parse(text));
                            if (events.lost() > 0) {
                                printError("At least %d events lost.".formatted(events.lost()));
                            }
                            events.added().forEach(event -> out.println(line(event)));
                        });
    }

    private String line(Json event) {
        return json
                ? new String(JsonMapper.writeOnly().write(event.value()), StandardCharsets.UTF_8)
                : text(event);
    }

    /// Formats an event: `2026-01-31T12:00:00.123456Z serve-0 #42 READ 512 bytes`. Events of the
    /// loop itself have `-` instead of a connection.
    static String text(Json event) {
        String id = event.get("connection").text();
        return "%s %s %s %s %s"
                .formatted(
                        event.get("time").text(),
                        event.get("loop").text(),
                        id.equals("0") ? "-" : "#" + id,
                        event.get("kind").text(),
                        Figures.printable(event.get("detail").text()))
                .strip();
    }

    /// Finds the new events of each response, which repeats the server's newest ones.
    static final class Events {
        /// The events of the last response, with how often each occurs in it.
        private Map<Json, Integer> seen = new HashMap<>();

        private List<Json> added = List.of();
        private long lost;

        void update(Json response) {
            List<Json> events = response.get("events").list();
            Map<Json, Integer> all = new HashMap<>();
            List<Json> unseen = new ArrayList<>();
            for (Json event : events) {
                if (all.merge(event, 1, Integer::sum) > seen.getOrDefault(event, 0)) {
                    unseen.add(event);
                }
            }
            // Responses that overlap have no gap between them.
            boolean overlaps = unseen.size() < events.size();
            long unsent = (long) response.get("total").number() - events.size();
            int before = seen.values().stream().mapToInt(Integer::intValue).sum();
            lost =
                    overlaps || events.isEmpty()
                            ? 0
                            : Math.max(unsent - before, before == 0 ? 0 : 1);
            added = unseen;
            seen = all;
        }

        /// Returns the events that the previous response did not contain.
        List<Json> added() {
            return added;
        }

        /// Returns the min number of events between the last two responses that neither contains.
        long lost() {
            return lost;
        }
    }

    /// Stops the trace at the server, then ends. A second signal does not wait for the server.
    private void end(AdminClient client, int with) {
        status = with;
        if (ending) {
            client.loop().stop();
        } else if (started) {
            stop(client, with);
        }
        ending = true;
    }

    private void stop(AdminClient client, int with) {
        Promise<?> _ =
                client.send("DELETE", "/trace", "")
                        .thenAccept(
                                _ -> {
                                    client.loop().stop();
                                })
                        .recover(failure -> fail(client, failure));
        status = with;
    }

    private @Nullable Void fail(AdminClient client, Throwable failure) {
        printError(String.valueOf(failure.getMessage()));
        status = 1;
        client.loop().stop();
        return null;
    }

    private void printError(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
    }
}
