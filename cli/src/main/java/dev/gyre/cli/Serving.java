package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.cli.serve.Rehearsal;
import dev.gyre.cli.serve.ServerLoops;
import dev.gyre.http.AccessLog;
import dev.gyre.io.CloseReason;
import dev.gyre.io.ListenerConfig;
import dev.gyre.metrics.LoopMetrics;
import dev.gyre.os.Signal;
import dev.gyre.os.StandardInput;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/// A web server's life, on several loops: says where it is, serves until a signal comes, answers what was asked, and
/// sums up. A second signal ends it at once.
///
/// Loop thread only, that of the first loop.
final class Serving {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /// For loops to say how much they have to do. One that does not is busy with something else.
    private static final Duration MOMENT = Duration.ofMillis(200);

    private final ServerLoops loops;
    private final EventLoop loop;
    private final CommandLine commandLine;

    // Loop thread only.
    private @Nullable AccessLog log;
    private @Nullable Signal stoppedBy;
    private long unanswered;
    private @Nullable Rehearsal rehearsal;

    private Serving(ServerLoops loops, CommandLine commandLine) {
        this.loops = loops;
        loop = loops.first();
        this.commandLine = commandLine;
    }

    /// Opens loops for it.
    ///
    /// @param body has the exit status
    static int open(
            CommandLine commandLine, Supplier<ServerLoops> opening, ToIntFunction<Serving> body) {
        ServerLoops opened;
        try {
            opened = opening.get();
        } catch (IllegalStateException // They need more memory than the process has.
                | UnsupportedOperationException
                | SystemCallException
                | LinkageError e) {
            print(commandLine.getErr(), LoopRefusal.line(e));
            return 1;
        }
        try (ServerLoops loops = opened) {
            return body.applyAsInt(new Serving(loops, commandLine));
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            print(commandLine.getErr(), LoopRefusal.line(e));
        } catch (StopSignals.Refused e) {
            print(commandLine.getErr(), "Signals cannot be taken: " + e.getMessage());
        }
        return 1;
    }

    ServerLoops loops() {
        return loops;
    }

    /// Writes a line for each request.
    void notes(AccessLog log) {
        this.log = log;
        loops.forEach(server -> server.use(log));
    }

    /// Ends when standard input does, as by SIGTERM.
    void endWithInput() {
        StandardInput _ = StandardInput.on(loop, _ -> {}, () -> stop(Signal.SIGTERM));
    }

    /// Asks itself for everything, and ends.
    void rehearse() {
        try {
            rehearsal = Rehearsal.with(loops);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // for the launcher's log
        }
    }

    /// Listens, serves and sums up.
    ///
    /// @param what is served
    /// @return the exit status
    int serve(String what, SocketAddress where, ListenerConfig config) {
        StopSignals.on(loop, this::stop);
        SocketAddress address;
        try {
            address = loops.listen(Addresses.resolved(where), config);
        } catch (SystemCallException e) {
            // The address is named once.
            String why = String.valueOf(e.getMessage());
            return refused(where, why.replaceFirst("^cannot (bind|listen).*?: (?=E)", ""));
        } catch (UnknownHostException e) {
            return refused(where, "no such host is known");
        }
        loops.start();
        boolean secure = config.streams().tls() != null;
        say(
                "%s on %s (%s%s, %s). Ctrl-C ends it."
                        .formatted(
                                what,
                                url(address, secure),
                                count(loops.all().size(), "loop"),
                                secure ? ", TLS" : "",
                                loop.metrics().backend()));
        Rehearsal known = rehearsal;
        if (known != null && address instanceof InetSocketAddress internet) {
            known.begin(loop, internet, () -> stop(Signal.SIGTERM));
        }
        QuietHeap.watch(loops);
        loop.run();
        return sumUp();
    }

    private int refused(SocketAddress where, String why) {
        print(commandLine.getErr(), "Cannot listen on " + Addresses.show(where) + ": " + why);
        return 1;
    }

    /// What to type into a browser; there is nothing like it for a path.
    private static String url(SocketAddress address, boolean secure) {
        if (!(address instanceof InetSocketAddress internet)) {
            return Addresses.show(address);
        }
        InetAddress host = internet.getAddress();
        boolean here = host.isAnyLocalAddress() || host.getHostAddress().equals("127.0.0.1");
        String authority = here ? "localhost:" + internet.getPort() : Addresses.show(address);
        return (secure ? "https://" : "http://") + authority + "/";
    }

    // ------------------------------------------------------------------ how it ends

    private void stop(Signal signal) {
        boolean again = stoppedBy != null;
        stoppedBy = signal;
        if (again) {
            loops.countBusy(MOMENT, this::cutOff);
            return;
        }
        loops.drain(PATIENCE, loop::stop);
        loops.countBusy(MOMENT, this::sayWhatIsLeft);
    }

    private void sayWhatIsLeft(long busy) {
        if (busy > 0) {
            say(
                    "Answering what was asked on %s, for %d s at most; once more ends it at once."
                            .formatted(count(busy, "connection"), PATIENCE.toSeconds()));
        }
    }

    private void cutOff(long busy) {
        unanswered = busy;
        loop.stop(); // The others are closed behind this one.
    }

    private int sumUp() {
        Signal signal = stoppedBy;
        if (signal == null) {
            print(commandLine.getErr(), "A loop has ended by itself.");
            return 1;
        }
        long cut = unanswered + loops.closed(CloseReason.ABORTED);
        long unwritten = log == null ? 0 : log.dropped();
        say(
                "Ended by %s: %s on %s%s%s%s."
                        .formatted(
                                signal,
                                count(loops.requests(), "request"),
                                count(loops.sum(LoopMetrics::streamsOpened), "connection"),
                                cut == 0 ? "" : "; " + cut + " cut off",
                                causes(),
                                unwritten == 0
                                        ? ""
                                        : "; " + count(unwritten, "line") + " not logged"));
        Rehearsal known = rehearsal;
        return known == null ? StopSignals.status(signal) : known.end();
    }

    /// Why connections were closed that the server gave up, as in `; 2 header timeout; 1 shed`.
    private String causes() {
        StringBuilder causes = new StringBuilder();
        for (CloseReason reason : CloseReason.values()) {
            if (reason.isTimeout()) {
                add(causes, loops.closed(reason), Tally.words(reason));
            }
        }
        add(causes, loops.sum(LoopMetrics::connectionsRefused), "refused");
        add(causes, loops.sum(LoopMetrics::connectionsShed), "shed for lack of descriptors");
        long files = loops.all().stream().mapToLong(each -> each.server().filesRefused()).sum();
        add(causes, files, "files refused");
        return causes.toString();
    }

    private static void add(StringBuilder to, long number, String what) {
        if (number > 0) {
            to.append("; ").append(number).append(' ').append(what);
        }
    }

    private static String count(long number, String what) {
        return number == 1 ? "1 " + what : number + " " + what + "s";
    }

    private void say(String line) {
        print(commandLine.getOut(), line);
    }

    private static void print(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }
}
