package dev.gyre.bench.streams;

import static dev.gyre.bench.Json.quoted;
import static dev.gyre.bench.Json.ratio;

import dev.gyre.bench.echo.Turns;

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

/// Prints rates per second of CPU time, one table per group, and all of it as one line of JSON:
/// `RateTable DIRECTORY GROUP:PROGRAM,PROGRAM... GROUP:...`. `bench/streams` writes the directory.
/// Ratios are to the first program of the group.
public final class RateTable {
    /// The max CPU use of other processes for a valid result; interrupts are part of it.
    static final double QUIET = 0.1;

    /// Programs that do the same work.
    record Group(String name, List<Turns> programs) {
        Turns base() {
            return programs.getFirst();
        }
    }

    private final Properties settings;
    private final List<Group> groups;
    private final String unit;
    private final double unitAmount;
    private final double aim;

    RateTable(Properties settings, List<Group> groups) {
        this.settings = settings;
        this.groups = groups;
        unit = settings.getProperty("unit");
        unitAmount = Double.parseDouble(settings.getProperty("unitAmount"));
        aim = Double.parseDouble(settings.getProperty("aim"));
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        Properties settings = settings(directory);
        var groups = new ArrayList<Group>();
        for (String group : Arrays.asList(args).subList(1, args.length)) {
            groups.add(group(directory, settings, group));
        }
        var table = new RateTable(settings, groups);
        System.out.print(table.text());
        System.out.println(table.json(Instant.now()));
    }

    static Properties settings(Path directory) throws IOException {
        var settings = new Properties();
        try (var reader = Files.newBufferedReader(directory.resolve("settings"))) {
            settings.load(reader);
        }
        return settings;
    }

    /// @param group as in `receive:c-epoll,gyre-epoll`; the results are in `receive.c-epoll.turns`
    static Group group(Path directory, Properties settings, String group) throws IOException {
        long amount = Long.parseLong(settings.getProperty("amount"));
        String name = group.substring(0, group.indexOf(':'));
        var programs = new ArrayList<Turns>();
        for (String program : group.substring(name.length() + 1).split(",", -1)) {
            Turns read = Turns.read(directory, name + "." + program, amount, 1);
            programs.add(new Turns(program, amount, read.turns(), read.absent(), null));
        }
        return new Group(name, programs);
    }

    String text() {
        var lines = new ArrayList<String>();
        for (Group group : groups) {
            lines.add(
                    String.format(
                            "%-22s %14s %11s %7s %7s %13s %7s %7s %7s",
                            group.name,
                            unit + "/CPU s",
                            "best",
                            "×",
                            "× best",
                            unit + "/s",
                            "×",
                            "core",
                            "others"));
            for (Turns program : group.programs) {
                lines.add(
                        program.absent() != null
                                ? String.format("%-22s %s", program.server(), program.absent())
                                : row(program, group.base()));
            }
            lines.add("");
        }
        lines.add(
                String.format(
                        Locale.ROOT,
                        "Aim: at least %.2f × %s, in a second of CPU time.",
                        aim,
                        groups.getFirst().base().server()));
        double others =
                groups.stream()
                        .flatMap(group -> group.programs.stream())
                        .mapToDouble(Turns::othersShare)
                        .max()
                        .orElse(0);
        if (others > QUIET) {
            lines.add(warning(others));
        }
        return String.join("\n", lines) + "\n\n";
    }

    static String warning(double others) {
        return String.format(
                Locale.ROOT,
                "Others used up to %.0f %% of a core: measure again when they are done.",
                100 * others);
    }

    private String row(Turns program, Turns base) {
        return String.format(
                Locale.ROOT,
                "%-22s %14s %11s %7.2f %7.2f %13s %7.2f %5.0f %% %5.0f %%",
                program.server(),
                inUnits(perCpuSecond(program)),
                inUnits(bestPerCpuSecond(program)),
                perCpuSecond(program) / perCpuSecond(base),
                bestPerCpuSecond(program) / bestPerCpuSecond(base),
                inUnits(program.messagesPerSecond()),
                program.messagesPerSecond() / base.messagesPerSecond(),
                100 * program.coreShare(),
                100 * program.othersShare());
    }

    private String inUnits(double amount) {
        // Gigabytes need decimals, messages do not.
        return String.format(Locale.ROOT, unitAmount > 1 ? "%.3f" : "%.0f", amount / unitAmount);
    }

    private static double perCpuSecond(Turns program) {
        return 1e6 / program.medianCpuMicros();
    }

    private static double bestPerCpuSecond(Turns program) {
        return 1e6 / program.leastCpuMicros();
    }

    String json(Instant at) {
        return String.format(
                Locale.ROOT,
                "{\"benchmark\":%s,\"at\":%s,\"machine\":%s,\"unit\":%s,\"amount\":%s,"
                        + "\"warmUp\":%s,\"aim\":%.2f,\"groups\":[%s]}",
                quoted(settings.getProperty("benchmark")),
                quoted(at.truncatedTo(ChronoUnit.SECONDS).toString()),
                quoted(settings.getProperty("machine", "")),
                quoted(unit),
                settings.getProperty("amount"),
                settings.getProperty("warmUp"),
                aim,
                groups.stream().map(this::json).collect(Collectors.joining(",")));
    }

    private String json(Group group) {
        return String.format(
                "{\"group\":%s,\"programs\":[%s]}",
                quoted(group.name),
                group.programs.stream()
                        .map(program -> json(program, group.base()))
                        .collect(Collectors.joining(",")));
    }

    private String json(Turns program, Turns base) {
        if (program.absent() != null) {
            return String.format(
                    "{\"program\":%s,\"absent\":%s}",
                    quoted(program.server()), quoted(program.absent()));
        }
        return String.format(
                Locale.ROOT,
                "{\"program\":%s,\"perCpuSecond\":%s,\"bestPerCpuSecond\":%s,\"ratio\":%s,"
                        + "\"bestRatio\":%s,\"perSecond\":%s,\"wallRatio\":%s,"
                        + "\"coreShare\":%.3f,\"othersShare\":%.3f,\"rounds\":[%s]}",
                quoted(program.server()),
                inUnits(perCpuSecond(program)),
                inUnits(bestPerCpuSecond(program)),
                ratio(perCpuSecond(program) / perCpuSecond(base)),
                ratio(bestPerCpuSecond(program) / bestPerCpuSecond(base)),
                inUnits(program.messagesPerSecond()),
                ratio(program.messagesPerSecond() / base.messagesPerSecond()),
                program.coreShare(),
                program.othersShare(),
                program.turns().stream()
                        .map(turn -> inUnits(1e6 / program.cpuMicros(turn)))
                        .collect(Collectors.joining(",")));
    }
}
