package dev.gyre.bench;

import dev.gyre.bench.promises.PromiseBenchmark;
import dev.gyre.bench.timers.TimerBenchmark;
import dev.gyre.bench.timers.Timers;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/// Runs groups of benchmarks and prints each as a table with ratios: `Suite ROUNDS GROUP...`.
///
/// The programs of a table run in alternation, each in its own JVM, for several rounds, so that
/// noise affects all of them. A row shows the median, min and max of all iterations, and the ratio
/// of its median to that of the row named `× ...`. A program that fails has the reason in its row,
/// and the run continues.
public final class Suite {
    private static final int WARM_UPS = 3;
    private static final int ITERATIONS = 4;
    private static final TimeValue WARM_UP_TIME = TimeValue.seconds(1);
    private static final TimeValue ITERATION_TIME = TimeValue.milliseconds(500);

    private static final List<String> JVM =
            List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    // Netty uses Unsafe only if it is allowed explicitly.
                    "--sun-misc-unsafe-memory-access=allow",
                    "-Xms512m",
                    "-Xmx512m");
    private static final List<Integer> OUTSTANDING = List.of(1_000, 100_000, 1_000_000);
    private static final String BARRIER = "-XX:+UseSystemMemoryBarrier";

    private Suite() {}

    /// A row: one benchmark in one JVM.
    record Row(
            String label,
            Class<?> of,
            String method,
            Map<String, String> parameters,
            List<String> jvm) {
        static Row peer(String method, String peer) {
            return new Row(peer, SubmitBenchmark.class, method, Map.of("peer", peer), List.of());
        }

        static Row tick(String label, String method, String... jvm) {
            return new Row(label, TickBenchmark.class, method, Map.of(), List.of(jvm));
        }

        static Row promise(String label, String method) {
            return new Row(label, PromiseBenchmark.class, method, Map.of(), List.of());
        }

        /// A million timers, and Netty's data for each, need more memory than the rest.
        static Row timers(String method, String peer, int count) {
            return new Row(
                    peer + ", " + count + " outstanding",
                    TimerBenchmark.class,
                    method,
                    Map.of("peer", peer, "count", Integer.toString(count)),
                    List.of("-Xms1g", "-Xmx1g"));
        }

        ChainedOptionsBuilder options() {
            var options =
                    new OptionsBuilder()
                            .include("^" + of.getName() + "\\." + method + "$")
                            .forks(1)
                            .warmupIterations(WARM_UPS)
                            .warmupTime(WARM_UP_TIME)
                            .measurementIterations(ITERATIONS)
                            .measurementTime(ITERATION_TIME)
                            .shouldFailOnError(true)
                            .verbosity(VerboseMode.SILENT)
                            .jvmArgs(
                                    Stream.concat(JVM.stream(), jvm.stream())
                                            .toArray(String[]::new));
            parameters.forEach(options::param);
            return options;
        }
    }

    /// The value that is read from an iteration.
    enum Figure {
        TIME("ns") {
            @Override
            double of(IterationResult iteration) {
                var result = iteration.getPrimaryResult();
                return switch (result.getScoreUnit()) {
                    case "ns/op" -> result.getScore();
                    case "ops/us" -> 1_000 / result.getScore();
                    default -> throw new IllegalStateException(result.getScoreUnit());
                };
            }
        },
        ALLOCATION("B") {
            @Override
            double of(IterationResult iteration) {
                return Objects.requireNonNull(
                                iteration.getSecondaryResults().get("gc.alloc.rate.norm"))
                        .getScore();
            }
        };

        final String unit;

        Figure(String unit) {
            this.unit = unit;
        }

        abstract double of(IterationResult iteration);
    }

    /// @param base the index of the reference row
    record Table(String title, Figure figure, int base, List<Row> rows) {}

    /// The results of a row.
    static final class Result {
        private final List<Double> figures = new ArrayList<>();
        private @Nullable String failure;

        double median() {
            int middle = figures.size() / 2;
            if (figures.isEmpty()) {
                return Double.NaN;
            }
            return figures.size() % 2 == 1
                    ? figures.get(middle)
                    : (figures.get(middle - 1) + figures.get(middle)) / 2;
        }
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (String group : Arrays.asList(args).subList(1, args.length)) {
            for (Table table : tables(group)) {
                run(table, rounds);
            }
        }
    }

    private static List<Table> tables(String group) {
        return switch (group) {
            case "submit" ->
                    List.of(
                            submit("submit and run, one producer, a task", "oneProducer"),
                            submit("submit and run, four producers, a task", "fourProducers"),
                            submit("submit alone, one producer, a task", "producer"));
            case "tick" -> List.of(tick());
            case "timers" ->
                    List.of(
                            timers("schedule and cancel, a new timer", "scheduleAndCancel", false),
                            reused("schedule and cancel, a kept timer", "reuseAndCancel"),
                            reused("put one timer off, always the same", "rescheduleOne"),
                            timers("put any timer off, in random order", "rescheduleAny", true),
                            timerAllocation());
            case "promises" -> List.of(promises(Figure.TIME), promises(Figure.ALLOCATION));
            case "alloc" -> List.of(allocation());
            default -> throw new IllegalArgumentException("no such group: " + group);
        };
    }

    private static Table submit(String title, String method) {
        return new Table(
                title,
                Figure.TIME,
                1,
                List.of(
                        Row.peer(method, Peer.GYRE),
                        Row.peer(method, Peer.NETTY_EPOLL),
                        Row.peer(method, Peer.NETTY_URING),
                        Row.peer(method, Peer.JCTOOLS),
                        Row.peer(method, Peer.EXECUTOR)));
    }

    private static Table tick() {
        return new Table(
                "a tick with nothing to do",
                Figure.TIME,
                0,
                List.of(
                        Row.tick("bare epoll_wait(0)", "systemCall"),
                        Row.tick("... " + BARRIER, "systemCall", BARRIER),
                        Row.tick("clock alone", "clock"),
                        Row.tick("gyre, one callback", "deferring"),
                        Row.tick("... " + BARRIER, "deferring", BARRIER),
                        Row.tick("gyre, no callback", "empty"),
                        Row.tick("... and no kernel", "withoutKernel")));
    }

    private static Table promises(Figure figure) {
        return new Table(
                "a promise, one step, and its handler",
                figure,
                0,
                List.of(
                        Row.promise("CompletableFuture", "future"),
                        Row.promise("... handlers queued", "queuedFuture"),
                        Row.promise("gyre", "gyre"),
                        Row.promise("... 64 at a time", "batch"),
                        Row.promise("netty", "netty")));
    }

    private static Table timers(String title, String method, boolean withBare) {
        var rows = new ArrayList<Row>();
        for (int count : OUTSTANDING) {
            rows.add(Row.timers(method, Timers.GYRE, count));
        }
        int most = OUTSTANDING.getLast();
        for (String peer :
                List.of(Timers.NETTY_WHEEL, Timers.NETTY_LOOP, Timers.EXECUTOR, Timers.AGRONA)) {
            rows.add(Row.timers(method, peer, most));
        }
        if (withBare) {
            rows.add(Row.timers(method, Timers.BARE, most));
        }
        return new Table(title, Figure.TIME, OUTSTANDING.size() - 1, rows);
    }

    /// Rows for operations that only Gyre has.
    private static Table reused(String title, String method) {
        return new Table(
                title,
                Figure.TIME,
                0,
                OUTSTANDING.stream().map(n -> Row.timers(method, Timers.GYRE, n)).toList());
    }

    private static Table timerAllocation() {
        return new Table(
                "allocated for a kept timer",
                Figure.ALLOCATION,
                0,
                List.of(
                        Row.timers("reuseAndCancel", Timers.GYRE, 1_000),
                        Row.timers("rescheduleOne", Timers.GYRE, 1_000)));
    }

    private static Table allocation() {
        var rows = new ArrayList<Row>();
        for (String peer : List.of(Peer.GYRE, Peer.NETTY_EPOLL, Peer.NETTY_URING, Peer.EXECUTOR)) {
            rows.add(
                    new Row(
                            "task: " + peer,
                            SubmitBenchmark.class,
                            "oneProducer",
                            Map.of("peer", peer),
                            List.of()));
        }
        rows.add(Row.tick("tick: gyre", "deferring"));
        rows.add(new Row("wake-up: gyre", WakeBenchmark.class, "wake", Map.of(), List.of()));
        return new Table("allocated, all threads", Figure.ALLOCATION, 1, rows);
    }

    private static void run(Table table, int rounds) {
        List<Result> results = table.rows.stream().map(_ -> new Result()).toList();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < table.rows.size(); i++) {
                if (results.get(i).failure == null) {
                    String label = table.rows.get(i).label;
                    System.err.printf("%s: round %d, %s%n", table.title, round + 1, label);
                    measure(table.rows.get(i), table.figure, results.get(i));
                }
            }
        }
        System.out.println("\n" + text(table, results));
    }

    /// Measures a row once more, in its own JVM.
    static void measure(Row row, Figure figure, Result into) {
        var options = row.options();
        if (figure == Figure.ALLOCATION) {
            options.addProfiler(GCProfiler.class);
        }
        try {
            for (RunResult result : new Runner(options.build()).run()) {
                collect(result, figure, into.figures);
            }
        } catch (RunnerException e) {
            into.failure = reason(e);
            System.err.println(row.label + " failed: " + into.failure);
        }
    }

    /// The innermost failure: JMH wraps what a benchmark threw as a cause or as a suppressed
    /// exception.
    private static String reason(Throwable failure) {
        Throwable inner = failure;
        while (inner.getCause() != null || inner.getSuppressed().length > 0) {
            inner = inner.getCause() != null ? inner.getCause() : inner.getSuppressed()[0];
        }
        return inner.toString().lines().findFirst().orElse("no reason given");
    }

    private static void collect(RunResult run, Figure figure, List<Double> figures) {
        for (BenchmarkResult fork : run.getBenchmarkResults()) {
            for (IterationResult iteration : fork.getIterationResults()) {
                figures.add(figure.of(iteration));
            }
        }
    }

    static String text(Table table, List<Result> results) {
        results.forEach(result -> result.figures.sort(null));
        double base = results.get(table.base).median();
        var text = new StringBuilder();
        text.append(
                String.format(
                        "%-40s %10s %10s %10s   × %s%n",
                        table.title + ", " + table.figure.unit,
                        "median",
                        "min",
                        "max",
                        table.rows.get(table.base).label));
        for (int i = 0; i < table.rows.size(); i++) {
            String label = table.rows.get(i).label;
            Result result = results.get(i);
            text.append(
                    result.failure != null
                            ? String.format("%-40s failed: %s%n", label, result.failure)
                            : String.format(
                                    Locale.ROOT,
                                    "%-40s %10.2f %10.2f %10.2f   %.2f%n",
                                    label,
                                    result.median(),
                                    result.figures.getFirst(),
                                    result.figures.getLast(),
                                    result.median() / base));
        }
        return text.toString();
    }
}
