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
    private final PrintWriter out;
    private final LiveLine live;
    private final int connections;
    private final Duration idle;
    private final Duration load;

    private @Nullable ServerProcess server;
    private @Nullable Crowd crowd;
    private @Nullable ProcessFigures atRest;
    private double idleCpu;

    CrowdTrial(EventLoop loop, PrintWriter out, int connections, Duration idle, Duration load) {
        this.loop = loop;
        this.out = out;
        this.connections = connections;
        this.idle = idle;
        this.load = load;
        live = new LiveLine(out, LiveLine.onTerminal());
    }

    /// @param serverOptions for `gyre echo`
    /// @return the verdict; rejected if something keeps it from being found
    Promise<Verdict> run(List<String> serverOptions) {
        ServerProcess process = ServerProcess.start(loop, serverOptions);
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
                        .thenCompose(_ -> talk());
        // Whichever comes first; the other one is of no interest then.
        Promise<Verdict> first = Promise.race(loop, List.of(found, end));
        return first;
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
        Crowd coming = new Crowd(loop, where.address(), connections, this::progress);
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
                "Connected %d in %s; descriptors open: %d in the server, %d here"
                        .formatted(
                                connections,
                                Latency.format(tookNanos),
                                server().figures().descriptors(),
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
                                    "Idle for %s: server %s, %s of a core"
                                            .formatted(
                                                    Durations.show(idle),
                                                    Verdict.size(now.residentBytes()),
                                                    Verdict.percent(idleCpu)));
                        });
    }

    // ------------------------------------------------------------------ load

    private Promise<Verdict> talk() {
        Load talking = new Load(crowd(), load.toSeconds());
        say(
                "Load for %s: a message of %d bytes a second and connection"
                        .formatted(Durations.show(load), Member.MESSAGE_BYTES));
        long fromNanos = loop.nowNanos();
        long fromCpu = server().figures().cpuNanos();
        Timer progress = loop.every(Duration.ofSeconds(1), _ -> progress(talking)).unreference();
        return talking.run()
                .then(
                        _ -> {
                            progress.cancel();
                            live.end();
                            ProcessFigures now = server().figures();
                            double cpu =
                                    (double) (now.cpuNanos() - fromCpu)
                                            / (loop.nowNanos() - fromNanos);
                            return judge(talking, now, cpu);
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

    private Verdict judge(Load talking, ProcessFigures now, double cpu) {
        Histogram nanos = talking.nanos();
        long idleBytes = Objects.requireNonNull(atRest).residentBytes();
        Verdict verdict =
                new Verdict(
                        connections,
                        crowd().dropped(),
                        talking.missing(),
                        talking.wrong(),
                        idleBytes,
                        idleCpu,
                        now.residentBytes(),
                        nanos.getValueAtPercentile(99));
        line("messages", "%d, %s of a core".formatted(talking.sent(), Verdict.percent(cpu)));
        line("latency", quantiles(nanos));
        line(
                "memory",
                "%s before, %s after: %s"
                        .formatted(
                                Verdict.size(idleBytes),
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
