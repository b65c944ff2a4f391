package dev.gyre.bench.echo;

import static dev.gyre.bench.Json.quoted;
import static dev.gyre.bench.Json.ratio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;

/// Prints the CPU time per message of several servers as a table, and as one line of JSON:
/// `EchoTable DIRECTORY SERVER...`. `bench/echo` writes the directory. Ratios are to the first
/// server.
public final class EchoTable {
    /// The max CPU use of other processes for a valid result; interrupts are part of it.
    private static final double QUIET = 0.1;

    private final Properties settings;
    private final List<Turns> servers;
    private final Turns base;

    EchoTable(Properties settings, List<Turns> servers) {
        this.settings = settings;
        this.servers = servers;
        base = servers.getFirst();
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        var settings = new Properties();
        try (var reader = Files.newBufferedReader(directory.resolve("settings"))) {
            settings.load(reader);
        }
        long messages = Long.parseLong(settings.getProperty("messages"));
        long counted = Long.parseLong(settings.getProperty("countedMessages"));
        var servers = new ArrayList<Turns>();
        for (String server : Arrays.asList(args).subList(1, args.length)) {
            servers.add(Turns.read(directory, server, messages, counted));
        }
        var table = new EchoTable(settings, servers);
        System.out.print(table.text());
        System.out.println(table.json(Instant.now()));
    }

    String text() {
        var lines = new ArrayList<String>();
        lines.add(
                String.format(
                        "%-14s %9s %9s %7s %9s %13s %7s %7s",
                        "CPU a message",
                        "median µs",
                        "min µs",
                        "×",
                        "× min",
                        "messages/s",
                        "core",
                        "others"));
        for (Turns server : servers) {
            lines.add(server.absent() != null ? absent(server) : row(server));
        }
        double others = servers.stream().mapToDouble(Turns::othersShare).max().orElse(0);
        if (others > QUIET) {
            lines.add(
                    String.format(
                            Locale.ROOT,
                            "Others used up to %.0f %% of a core: measure again when they are"
                                    + " done.",
                            100 * others));
        }
        List<Turns> counted = servers.stream().filter(turns -> turns.calls() != null).toList();
        if (!counted.isEmpty()) {
            lines.add("");
            lines.add(String.format("%-14s %9s", "system calls", "a message"));
            counted.forEach(server -> lines.add(calls(server)));
        }
        return String.join("\n", lines) + "\n\n";
    }

    private static String absent(Turns server) {
        return String.format("%-14s %s", server.server(), server.absent());
    }

    private String row(Turns server) {
        return String.format(
                Locale.ROOT,
                "%-14s %9.2f %9.2f %7.2f %9.2f %13.0f %5.0f %% %5.0f %%",
                server.server(),
                server.medianCpuMicros(),
                server.leastCpuMicros(),
                server.medianCpuMicros() / base.medianCpuMicros(),
                server.leastCpuMicros() / base.leastCpuMicros(),
                server.messagesPerSecond(),
                100 * server.coreShare(),
                100 * server.othersShare());
    }

    private static String calls(Turns server) {
        SystemCalls calls = server.calls();
        return calls == null
                ? server.server()
                : String.format(
                        Locale.ROOT,
                        "%-14s %9.2f   %s",
                        server.server(),
                        calls.perMessage(),
                        calls);
    }

    String json(Instant at) {
        return String.format(
                Locale.ROOT,
                "{\"benchmark\":\"echo\",\"at\":%s,\"machine\":%s,\"connections\":%s,\"bytes\":64,"
                        + "\"warmUps\":%s,\"messages\":%s,\"servers\":[%s]}",
                quoted(at.truncatedTo(ChronoUnit.SECONDS).toString()),
                quoted(settings.getProperty("machine", "")),
                settings.getProperty("connections"),
                settings.getProperty("warmUps"),
                settings.getProperty("messages"),
                servers.stream().map(this::json).collect(Collectors.joining(",")));
    }

    private String json(Turns server) {
        if (server.absent() != null) {
            return String.format(
                    "{\"server\":%s,\"absent\":%s}",
                    quoted(server.server()), quoted(server.absent()));
        }
        SystemCalls calls = server.calls();
        return String.format(
                Locale.ROOT,
                "{\"server\":%s,\"cpuMicros\":%.3f,\"leastCpuMicros\":%.3f,\"ratio\":%s,"
                        + "\"leastRatio\":%s,\"messagesPerSecond\":%.0f,\"coreShare\":%.3f,"
                        + "\"othersShare\":%.3f,\"rounds\":[%s]%s}",
                quoted(server.server()),
                server.medianCpuMicros(),
                server.leastCpuMicros(),
                ratio(server.medianCpuMicros() / base.medianCpuMicros()),
                ratio(server.leastCpuMicros() / base.leastCpuMicros()),
                server.messagesPerSecond(),
                server.coreShare(),
                server.othersShare(),
                server.turns().stream()
                        .map(turn -> String.format(Locale.ROOT, "%.3f", server.cpuMicros(turn)))
                        .collect(Collectors.joining(",")),
                calls == null
                        ? ""
                        : String.format(Locale.ROOT, ",\"systemCalls\":%.3f", calls.perMessage()));
    }
}
