package dev.gyre.bench.streams;

import static dev.gyre.bench.Json.quoted;

import dev.gyre.bench.echo.Turns;

import org.jspecify.annotations.Nullable;

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
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/// Prints the echo latency of a client, alone and next to hostile ones, as a table and as one line
/// of JSON: `NeighbourTable DIRECTORY SERVER...`. `bench/streams` writes the directory. Ratios are
/// within a round, where the same process was measured twice; the table shows their median.
public final class NeighbourTable {
    /// One server in one round: microseconds, and the max share of a core used by other processes.
    record Round(
            double aloneP50, double aloneP99, double besideP50, double besideP99, double others) {
        /// Parses two lines of `neighbour`, joined: p50, p99, wall time and CPU time of others,
        /// each twice.
        static Round parse(String line) {
            long[] nanos = Arrays.stream(line.split(" ", -1)).mapToLong(Long::parseLong).toArray();
            if (nanos.length != 8) {
                throw new IllegalArgumentException("not eight figures: " + line);
            }
            return new Round(
                    nanos[0] / 1e3,
                    nanos[1] / 1e3,
                    nanos[4] / 1e3,
                    nanos[5] / 1e3,
                    Math.max((double) nanos[3] / nanos[2], (double) nanos[7] / nanos[6]));
        }
    }

    /// @param absent why there are no results, as in [Turns#absence]
    record Server(String name, List<Round> rounds, @Nullable String absent) {
        static Server read(Path directory, String name) throws IOException {
            String absent = Turns.absence(directory, name);
            if (absent != null) {
                return new Server(name, List.of(), absent);
            }
            List<String> lines = Files.readAllLines(directory.resolve(name + ".turns"));
            return new Server(name, lines.stream().map(Round::parse).toList(), null);
        }

        double median(ToDoubleFunction<Round> figure) {
            double[] sorted = rounds.stream().mapToDouble(figure).sorted().toArray();
            int middle = sorted.length / 2;
            return sorted.length % 2 == 1
                    ? sorted[middle]
                    : (sorted[middle - 1] + sorted[middle]) / 2;
        }

        double ratioP50() {
            return median(round -> round.besideP50() / round.aloneP50());
        }

        double ratioP99() {
            return median(round -> round.besideP99() / round.aloneP99());
        }

        double others() {
            return rounds.stream().mapToDouble(Round::others).max().orElse(0);
        }
    }

    private final Properties settings;
    private final List<Server> servers;

    NeighbourTable(Properties settings, List<Server> servers) {
        this.settings = settings;
        this.servers = servers;
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        var servers = new ArrayList<Server>();
        for (String server : Arrays.asList(args).subList(1, args.length)) {
            servers.add(Server.read(directory, server));
        }
        var table = new NeighbourTable(RateTable.settings(directory), servers);
        System.out.print(table.text());
        System.out.println(table.json(Instant.now()));
    }

    String text() {
        var lines = new ArrayList<String>();
        lines.add(
                String.format(
                        "%-14s %10s %10s %11s %11s %7s %7s %7s",
                        "µs an echo",
                        "alone p50",
                        "p99",
                        "beside p50",
                        "p99",
                        "× p50",
                        "× p99",
                        "others"));
        for (Server server : servers) {
            lines.add(
                    server.absent != null
                            ? String.format("%-14s %s", server.name, server.absent)
                            : String.format(
                                    Locale.ROOT,
                                    "%-14s %10.1f %10.1f %11.1f %11.1f %7.2f %7.2f %5.0f %%",
                                    server.name,
                                    server.median(Round::aloneP50),
                                    server.median(Round::aloneP99),
                                    server.median(Round::besideP50),
                                    server.median(Round::besideP99),
                                    server.ratioP50(),
                                    server.ratioP99(),
                                    100 * server.others()));
        }
        lines.add("");
        lines.add(
                String.format(
                        "Aim: beside %s hostile peers p99 is at most %s × that of a peer alone.",
                        settings.getProperty("peers"), settings.getProperty("aim")));
        double others = servers.stream().mapToDouble(Server::others).max().orElse(0);
        if (others > RateTable.QUIET) {
            lines.add(RateTable.warning(others));
        }
        return String.join("\n", lines) + "\n\n";
    }

    String json(Instant at) {
        return String.format(
                Locale.ROOT,
                "{\"benchmark\":\"streams neighbours\",\"at\":%s,\"machine\":%s,\"peers\":%s,"
                        + "\"messages\":%s,\"warmUp\":%s,\"aim\":%s,\"servers\":[%s]}",
                quoted(at.truncatedTo(ChronoUnit.SECONDS).toString()),
                quoted(settings.getProperty("machine", "")),
                settings.getProperty("peers"),
                settings.getProperty("amount"),
                settings.getProperty("warmUp"),
                settings.getProperty("aim"),
                servers.stream().map(NeighbourTable::json).collect(Collectors.joining(",")));
    }

    private static String json(Server server) {
        if (server.absent != null) {
            return String.format(
                    "{\"server\":%s,\"absent\":%s}", quoted(server.name), quoted(server.absent));
        }
        return String.format(
                Locale.ROOT,
                "{\"server\":%s,\"aloneP50\":%.1f,\"aloneP99\":%.1f,\"besideP50\":%.1f,"
                        + "\"besideP99\":%.1f,\"ratioP50\":%.3f,\"ratioP99\":%.3f,"
                        + "\"othersShare\":%.3f,\"rounds\":[%s]}",
                quoted(server.name),
                server.median(Round::aloneP50),
                server.median(Round::aloneP99),
                server.median(Round::besideP50),
                server.median(Round::besideP99),
                server.ratioP50(),
                server.ratioP99(),
                server.others(),
                server.rounds.stream()
                        .map(
                                round ->
                                        String.format(
                                                Locale.ROOT,
                                                "%.3f",
                                                round.besideP99() / round.aloneP99()))
                        .collect(Collectors.joining(",")));
    }
}
