package dev.gyre.bench.echo;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/// The results of one server in all rounds, or the reason why there are none.
///
/// @param absent why there are no results, as in [#absence]
/// @param calls the system calls, if counted
public record Turns(
        String server,
        long messages,
        List<Turn> turns,
        @Nullable String absent,
        @Nullable SystemCalls calls) {

    /// One round.
    ///
    /// @param othersNanos the CPU time of other processes on the two cores
    public record Turn(long cpuNanos, long wallNanos, long othersNanos) {
        static Turn parse(String line) {
            String[] nanos = line.split(" ", -1);
            return new Turn(
                    Long.parseLong(nanos[0]), Long.parseLong(nanos[1]), Long.parseLong(nanos[2]));
        }
    }

    /// Reads the files that `bench/echo` and `bench/streams` write, named after the server.
    public static Turns read(Path directory, String server, long messages, long countedMessages)
            throws IOException {
        String absent = absence(directory, server);
        if (absent != null) {
            return new Turns(server, messages, List.of(), absent, null);
        }
        var turns = new ArrayList<Turn>();
        for (String line : Files.readAllLines(directory.resolve(server + ".turns"))) {
            turns.add(Turn.parse(line));
        }
        Path strace = directory.resolve(server + ".strace");
        SystemCalls calls =
                Files.exists(strace)
                        ? SystemCalls.parse(Files.readAllLines(strace), countedMessages)
                        : null;
        return new Turns(server, messages, List.copyOf(turns), null, calls);
    }

    /// Returns why there are no results: the program does not support this machine, or failed.
    ///
    /// @return the text of its row; `null` if there are results
    public static @Nullable String absence(Path directory, String program) throws IOException {
        Path failed = directory.resolve(program + ".failed");
        if (Files.exists(failed)) {
            return "failed: " + Files.readString(failed).strip();
        }
        Path declined = directory.resolve(program + ".declined");
        return Files.exists(declined) ? "not here: " + Files.readString(declined).strip() : null;
    }

    public double medianCpuMicros() {
        return median(this::cpuMicros);
    }

    public double leastCpuMicros() {
        return turns.stream().mapToDouble(this::cpuMicros).min().orElse(Double.NaN);
    }

    public double messagesPerSecond() {
        return median(turn -> messages * 1e9 / turn.wallNanos);
    }

    /// Returns the server's share of its core. Near 1 the server is the bottleneck, else the load.
    public double coreShare() {
        return median(turn -> (double) turn.cpuNanos / turn.wallNanos);
    }

    /// Returns the max share of a core that other processes used in a round.
    public double othersShare() {
        return turns.stream()
                .mapToDouble(turn -> (double) turn.othersNanos / turn.wallNanos)
                .max()
                .orElse(0);
    }

    public double cpuMicros(Turn turn) {
        return turn.cpuNanos / 1e3 / messages;
    }

    private double median(ToDoubleFunction<Turn> figure) {
        double[] sorted = turns.stream().mapToDouble(figure).sorted().toArray();
        if (sorted.length == 0) {
            return Double.NaN; // The reference may have failed.
        }
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
