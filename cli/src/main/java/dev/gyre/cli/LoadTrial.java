package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/// One run: starts a server, connects the clients, measures idle and under load, and returns a
/// verdict.
///
/// Loop thread only.
final class LoadTrial {
    /// The pause between the last connection and the first measurement, for running JIT
    /// compilations.
    private static final Duration SETTLING = Duration.ofSeconds(2);

    private static final int STEPS = 10;

    private final EventLoop loop;
    private final LoadKind kind;
    private final PrintWriter out;
    private final LiveLine live;
    private final int connections;
    private final Duration idle;
    private final Duration warmUp;
    private final Duration load;

    private @Nullable ServerProcess server;
    private @Nullable LoadClients clients;
    private @Nullable ProcessStats idleStats;
    private double idleCpu;

    LoadTrial(
            EventLoop loop,
            LoadKind kind,
            PrintWriter out,
            int connections,
            Duration idle,
            Duration warmUp,
            Duration load) {
        this.loop = loop;
        this.kind = kind;
        this.out = out;
        this.connections = connections;
        this.idle = idle;
        this.warmUp = warmUp;
        this.load = load;
        live = new LiveLine(out, LiveLine.onTerminal());
    }

    /// Runs the trial.
    ///
    /// @param serverOptions options for the server's command
    /// @return the verdict; rejected if the trial fails
    Promise<Verdict> run(List<String> serverOptions) {
        ServerProcess process = ServerProcess.start(loop, kind, serverOptions);
        server = process;
        Promise<Verdict> end =
                process.exited()
                        .then(
                                exit -> {
                                    throw new IllegalStateException("the server " + exit);
                                });
        Promise<Verdict> found =
                process.where()
                        .thenCompose(this::connect)
                        .thenCompose(_ -> idle())
                        .thenCompose(_ -> warmUp())
                        .thenCompose(_ -> load());
        return Promise.race(loop, List.of(found, end));
    }

    /// Stops all parts of it, with or without a verdict.
    Promise<@Nullable Void> stop() {
        live.end();
        if (clients != null) {
            clients.disconnect();
        }
        return server == null ? Promise.resolved(loop, null) : server.stop().then(_ -> null);
    }

    private Promise<@Nullable Void> connect(ServerProcess.Where where) {
        say(
                "Server: process %d on %s (%s)"
                        .formatted(server().pid(), Addresses.show(where.address()), where.kind()));
        long startNanos = loop.nowNanos();
        LoadClients connecting =
                new LoadClients(loop, kind, where.address(), connections, this::progress);
        clients = connecting;
        return connecting.connect().thenAccept(_ -> connected(loop.nowNanos() - startNanos));
    }

    private void progress(int connected) {
        int step = Math.max(1, connections / STEPS);
        if (connected % step == 0 || connected == connections) {
            live.show("  %d of %d connected".formatted(connected, connections));
        }
    }

    private void connected(long tookNanos) {
        live.end();
        say(
                "Connected %d in %s, %d descriptors open"
                        .formatted(
                                connections,
                                Latency.format(tookNanos),
                                ProcessStats.of(ProcessHandle.current().pid()).descriptors()));
    }

    private Promise<@Nullable Void> idle() {
        return Promise.delay(loop, SETTLING).thenCompose(_ -> measureIdle());
    }

    private Promise<@Nullable Void> measureIdle() {
        long fromNanos = loop.nowNanos();
        long fromCpu = server().stats().cpuNanos();
        return Promise.delay(loop, idle)
                .thenAccept(
                        _ -> {
                            ProcessStats now = server().stats();
                            idleStats = now;
                            idleCpu =
                                    (double) (now.cpuNanos() - fromCpu)
                                            / (loop.nowNanos() - fromNanos);
                            say(
                                    "Idle for %s: server %s, %s of a core, %d descriptors open"
                                            .formatted(
                                                    Durations.show(idle),
                                                    Verdict.size(now.residentBytes()),
                                                    Verdict.percent(idleCpu),
                                                    now.descriptors()));
                        });
    }

    /// Excludes JIT compilation, and the memory that each connection needs for its first message,
    /// from the growth.
    private Promise<@Nullable Void> warmUp() {
        if (warmUp.isZero()) {
            return Promise.resolved(loop, null);
        }
        say("Warm-up for " + Durations.show(warmUp));
        return under(new LoadGenerator(clients(), warmUp.toSeconds()));
    }

    private Promise<Verdict> load() {
        say(
                "Load for %s: %s per second and connection"
                        .formatted(Durations.show(load), kind.message()));
        LoadGenerator generator = new LoadGenerator(clients(), load.toSeconds());
        long fromNanos = loop.nowNanos();
        ProcessStats from = server().stats();
        return under(generator)
                .then(
                        _ -> {
                            ProcessStats now = server().stats();
                            double cpu =
                                    (double) (now.cpuNanos() - from.cpuNanos())
                                            / (loop.nowNanos() - fromNanos);
                            return judge(generator, from, now, cpu);
                        });
    }

    private Promise<@Nullable Void> under(LoadGenerator generator) {
        Timer progress = loop.every(Duration.ofSeconds(1), _ -> progress(generator)).unreference();
        return generator
                .run()
                .finallyRun(
                        () -> {
                            progress.cancel();
                            live.end();
                        });
    }

    private void progress(LoadGenerator generator) {
        live.show(
                "  %d messages, p99 %s, server %s, %d dropped"
                        .formatted(
                                generator.sent(),
                                Latency.format(generator.nanos().getValueAtPercentile(99)),
                                Verdict.size(server().stats().residentBytes()),
                                clients().dropped()));
    }

    private Verdict judge(
            LoadGenerator generator, ProcessStats from, ProcessStats now, double cpu) {
        Histogram nanos = generator.nanos();
        long idleBytes = Objects.requireNonNull(idleStats).residentBytes();
        Verdict verdict =
                new Verdict(
                        kind,
                        connections,
                        clients().dropped(),
                        generator.missing(),
                        generator.wrong(),
                        idleBytes,
                        idleCpu,
                        from.residentBytes(),
                        now.residentBytes(),
                        nanos.getValueAtPercentile(99));
        line("messages", "%d, %s of a core".formatted(generator.sent(), Verdict.percent(cpu)));
        line("latency", quantiles(nanos));
        line(
                "memory",
                "%s at the start, %s at the end: %s"
                        .formatted(
                                Verdict.size(from.residentBytes()),
                                Verdict.size(now.residentBytes()),
                                verdict.growth() <= Verdict.MAX_GROWTH ? "flat" : "grown"));
        line("dropped", clients().dropped() == 0 ? "none" : clients().droppedBy().toString());
        return verdict;
    }

    private static String quantiles(Histogram nanos) {
        return "p50 %s, p90 %s, p99 %s, p99.9 %s, max %s"
                .formatted(
                        Latency.format(nanos.getValueAtPercentile(50)),
                        Latency.format(nanos.getValueAtPercentile(90)),
                        Latency.format(nanos.getValueAtPercentile(99)),
                        Latency.format(nanos.getValueAtPercentile(99.9)),
                        Latency.format(nanos.getMaxValue()));
    }

    private ServerProcess server() {
        return Objects.requireNonNull(server);
    }

    private LoadClients clients() {
        return Objects.requireNonNull(clients);
    }

    private void line(String label, String text) {
        out.printf(Locale.ROOT, "  %-8s  %s%n", label, text);
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
