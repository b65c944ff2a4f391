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

/// One run: starts a server, brings a crowd to it, has that idle and then talk, and judges.
///
/// Loop thread only.
final class CrowdTrial {
    /// Between the last connection and the first look, for what the JVM has begun to compile.
    private static final Duration SETTLING = Duration.ofSeconds(2);

    private static final int STEPS = 10;

    private final EventLoop loop;
    private final CrowdKind kind;
    private final PrintWriter out;
    private final LiveLine live;
    private final int connections;
    private final Duration idle;
    private final Duration warmUp;
    private final Duration load;

    private @Nullable ServerProcess server;
    private @Nullable Crowd crowd;
    private @Nullable ProcessFigures atRest;
    private double idleCpu;

    CrowdTrial(
            EventLoop loop,
            CrowdKind kind,
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
    /// @param serverOptions for the command of the server
    /// @return the verdict; rejected if something keeps it from being found
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
                        .thenCompose(this::gather)
                        .thenCompose(_ -> rest())
                        .thenCompose(_ -> warmUp())
                        .thenCompose(_ -> talk());
        return Promise.race(loop, List.of(found, end));
    }

    /// Ends what is left of it, whether it has come to a verdict or not.
    Promise<@Nullable Void> end() {
        live.end();
        if (crowd != null) {
            crowd.leave();
        }
        return server == null ? Promise.resolved(loop, null) : server.stop().then(_ -> null);
    }

    // ------------------------------------------------------------------ the crowd

    private Promise<@Nullable Void> gather(ServerProcess.Where where) {
        say(
                "Server: process %d on %s (%s)"
                        .formatted(server().pid(), Addresses.show(where.address()), where.kind()));
        long begun = loop.nowNanos();
        Crowd coming = new Crowd(loop, kind, where.address(), connections, this::progress);
        crowd = coming;
        return coming.gather().thenAccept(_ -> gathered(loop.nowNanos() - begun));
    }

    private void progress(int connected) {
        int step = Math.max(1, connections / STEPS);
        if (connected % step == 0 || connected == connections) {
            live.show("  %d of %d connected".formatted(connected, connections));
        }
    }

    private void gathered(long tookNanos) {
        live.end();
        say(
                "Connected %d in %s, %d descriptors open"
                        .formatted(
                                connections,
                                Latency.format(tookNanos),
                                ProcessFigures.of(ProcessHandle.current().pid()).descriptors()));
    }

    // ------------------------------------------------------------------ idle

    private Promise<@Nullable Void> rest() {
        return Promise.delay(loop, SETTLING).thenCompose(_ -> measureRest());
    }

    private Promise<@Nullable Void> measureRest() {
        long fromNanos = loop.nowNanos();
        long fromCpu = server().figures().cpuNanos();
        return Promise.delay(loop, idle)
                .thenAccept(
                        _ -> {
                            ProcessFigures now = server().figures();
                            atRest = now;
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

    // ------------------------------------------------------------------ load

    /// What the JVM compiles first, and what each connection needs for its first message, is no growth.
    private Promise<@Nullable Void> warmUp() {
        if (warmUp.isZero()) {
            return Promise.resolved(loop, null);
        }
        say("Warm-up for " + Durations.show(warmUp));
        return under(new Load(crowd(), warmUp.toSeconds()));
    }

    private Promise<Verdict> talk() {
        say(
                "Load for %s: %s a second and connection"
                        .formatted(Durations.show(load), kind.message()));
        Load talking = new Load(crowd(), load.toSeconds());
        long fromNanos = loop.nowNanos();
        ProcessFigures from = server().figures();
        return under(talking)
                .then(
                        _ -> {
                            ProcessFigures now = server().figures();
                            double cpu =
                                    (double) (now.cpuNanos() - from.cpuNanos())
                                            / (loop.nowNanos() - fromNanos);
                            return judge(talking, from, now, cpu);
                        });
    }

    private Promise<@Nullable Void> under(Load talking) {
        Timer progress = loop.every(Duration.ofSeconds(1), _ -> progress(talking)).unreference();
        return talking.run()
                .finallyRun(
                        () -> {
                            progress.cancel();
                            live.end();
                        });
    }

    private void progress(Load talking) {
        live.show(
                "  %d messages, p99 %s, server %s, %d dropped"
                        .formatted(
                                talking.sent(),
                                Latency.format(talking.nanos().getValueAtPercentile(99)),
                                Verdict.size(server().figures().residentBytes()),
                                crowd().dropped()));
    }

    private Verdict judge(Load talking, ProcessFigures from, ProcessFigures now, double cpu) {
        Histogram nanos = talking.nanos();
        long idleBytes = Objects.requireNonNull(atRest).residentBytes();
        Verdict verdict =
                new Verdict(
                        kind,
                        connections,
                        crowd().dropped(),
                        talking.missing(),
                        talking.wrong(),
                        idleBytes,
                        idleCpu,
                        from.residentBytes(),
                        now.residentBytes(),
                        nanos.getValueAtPercentile(99));
        line("messages", "%d, %s of a core".formatted(talking.sent(), Verdict.percent(cpu)));
        line("latency", quantiles(nanos));
        line(
                "memory",
                "%s at the start, %s at the end: %s"
                        .formatted(
                                Verdict.size(from.residentBytes()),
                                Verdict.size(now.residentBytes()),
                                verdict.growth() <= Verdict.MOST_GROWTH ? "flat" : "grown"));
        line("dropped", crowd().dropped() == 0 ? "none" : crowd().droppedBy().toString());
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

    // ------------------------------------------------------------------ what it says

    private ServerProcess server() {
        return Objects.requireNonNull(server);
    }

    private Crowd crowd() {
        return Objects.requireNonNull(crowd);
    }

    private void line(String label, String text) {
        out.printf(Locale.ROOT, "  %-8s  %s%n", label, text);
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
