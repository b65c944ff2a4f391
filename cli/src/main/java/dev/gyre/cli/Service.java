package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.io.Datagram;
import dev.gyre.io.DrainReport;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/// Runs a server: announces its address, serves until a signal arrives, drains, and prints a summary. A second signal
/// resets the remaining connections.
///
/// Loop thread only.
final class Service {
    private final EventLoop loop;
    private final CommandLine commandLine;
    private static final Duration DRAIN_DEADLINE = Duration.ofSeconds(5);

    private final Tally tally = new Tally();

    /// Outgoing connections, which drain together with the accepted ones.
    private final Set<Stream> outgoing = new HashSet<>();

    private @Nullable Listener listener;
    private @Nullable Datagram socket;
    private boolean drained;
    private boolean stopsNow;
    private @Nullable Signal stoppedBy;

    private Service(EventLoop loop, CommandLine commandLine) {
        this.loop = loop;
        this.commandLine = commandLine;
    }

    /// Opens a loop for a service to run on.
    ///
    /// @param body has the exit status
    static int open(CommandLine commandLine, LoopConfig config, ToIntFunction<Service> body) {
        try (EventLoop loop = EventLoop.open(config)) {
            return body.applyAsInt(new Service(loop, commandLine));
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            print(commandLine.getErr(), LoopRefusal.line(e));
        } catch (StopSignals.Refused e) {
            print(commandLine.getErr(), "Signals cannot be taken: " + e.getMessage());
        }
        return 1;
    }

    EventLoop loop() {
        return loop;
    }

    /// Listens, serves and sums up.
    ///
    /// @param announcement with a place for the address, as in `Echo on %s`
    /// @return the exit status
    int serve(
            String announcement,
            SocketAddress where,
            ListenerConfig config,
            Consumer<? super Stream> accepted) {
        return run(
                where,
                address -> {
                    Listener opened = Listener.on(loop, address, config, accepted);
                    listener = opened;
                    String kind =
                            Addresses.sortOf(where)
                                    + (config.streams().tls() == null ? "" : ", TLS");
                    announce(announcement, opened.address(), kind);
                    return () -> tally.text(opened);
                });
    }

    /// The same with messages instead of connections.
    int serveMessages(String announcement, SocketAddress where, Consumer<? super Datagram> bound) {
        return run(
                where,
                address -> {
                    Datagram opened = Datagram.bind(loop, address);
                    socket = opened;
                    bound.accept(opened);
                    announce(announcement, opened.address(), "UDP");
                    return () -> Tally.text(opened);
                });
    }

    /// Opens what listens.
    @FunctionalInterface
    private interface Opening {
        /// @return what to say of it in the end
        Supplier<String> open(SocketAddress address);
    }

    private int run(SocketAddress where, Opening opening) {
        StopSignals.on(loop, this::stop);
        Supplier<String> summary;
        try {
            summary = opening.open(Addresses.resolved(where));
        } catch (SystemCallException e) {
            // The address is named once.
            String why = String.valueOf(e.getMessage());
            return refused(where, why.replaceFirst("^cannot (bind|listen).*?: (?=E)", ""));
        } catch (UnknownHostException e) {
            return refused(where, "no such host is known");
        }
        loop.run();
        Signal signal = stoppedBy;
        if (signal == null) {
            complain("The loop has ended by itself.");
            return 1;
        }
        say("Ended by " + signal + ": " + summary.get() + ".");
        return StopSignals.status(signal);
    }

    private void announce(String announcement, SocketAddress address, String kind) {
        say(
                announcement.formatted(Addresses.show(address))
                        + " (%s, %s). Ctrl-C ends it.".formatted(kind, loop.metrics().backend()));
    }

    private int refused(SocketAddress where, String why) {
        complain("Cannot listen on " + Addresses.show(where) + ": " + why);
        return 1;
    }

    // ------------------------------------------------------------------ what it serves

    /// Counts a client's connection.
    void counts(Stream stream) {
        tally.opened();
        stream.onClose(reason -> tally.closed(stream, reason));
    }

    /// Adds an outgoing connection to those that the drain waits for.
    void uses(Stream stream) {
        outgoing.add(stream);
        stream.onClose(
                _ -> {
                    outgoing.remove(stream);
                    stopIfDrained();
                });
    }

    // ------------------------------------------------------------------ how it ends

    /// Stops as if the signal had arrived.
    void stop(Signal signal) {
        boolean again = stoppedBy != null;
        stoppedBy = signal;
        if (socket != null) {
            socket.close();
        }
        if (listener == null) {
            loop.stop();
        } else if (again) {
            stopsNow = true;
            Promise<DrainReport> _ = listener.drain(Duration.ZERO);
        } else {
            drain(listener);
        }
    }

    private void drain(Listener from) {
        int open = from.connections();
        if (open > 0) {
            say(
                    "Draining %d connection%s (up to %d s). Press Ctrl-C again to stop now."
                            .formatted(open, open == 1 ? "" : "s", DRAIN_DEADLINE.toSeconds()));
        }
        Promise<@Nullable Void> _ =
                from.drain(DRAIN_DEADLINE)
                        .thenAccept(
                                _ -> {
                                    drained = true;
                                    if (stopsNow) {
                                        resetOutgoing();
                                    }
                                    stopIfDrained();
                                });
        loop.after(DRAIN_DEADLINE, _ -> resetOutgoing());
    }

    private void resetOutgoing() {
        Set.copyOf(outgoing).forEach(Stream::abort);
    }

    private void stopIfDrained() {
        if (drained && outgoing.isEmpty()) {
            loop.stop();
        }
    }

    // ------------------------------------------------------------------ what it says

    private void say(String line) {
        print(commandLine.getOut(), line);
    }

    /// On standard error.
    void complain(String line) {
        print(commandLine.getErr(), line);
    }

    private static void print(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }
}
