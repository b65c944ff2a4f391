package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.io.Datagram;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/// A server's life: says where it listens, serves until a signal comes, lets what was begun come to its end, and sums
/// up. A second signal ends it at once.
///
/// Loop thread only.
final class Service {
    private final EventLoop loop;
    private final CommandLine commandLine;
    private final Tally tally = new Tally();

    /// To be closed in the end.
    private final Set<Stream> open = new HashSet<>();

    /// What nobody comes in by any more when it is closed.
    private @Nullable Runnable door;

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
                    Listener listener = Listener.on(loop, address, config, accepted);
                    door = listener::close;
                    String kind =
                            Addresses.sortOf(where)
                                    + (config.streams().tls() == null ? "" : ", TLS");
                    announce(announcement, listener.address(), kind);
                    return () -> tally.text(listener);
                });
    }

    /// The same with messages instead of connections.
    int serveMessages(String announcement, SocketAddress where, Consumer<? super Datagram> bound) {
        return run(
                where,
                address -> {
                    Datagram socket = Datagram.bind(loop, address);
                    door = socket::close;
                    bound.accept(socket);
                    announce(announcement, socket.address(), "UDP");
                    return () -> Tally.text(socket);
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

    /// Counts a client's connection, and closes it in the end.
    void counts(Stream stream) {
        open.add(stream);
        tally.opened();
        stream.onClose(
                reason -> {
                    tally.closed(stream, reason);
                    gone(stream);
                });
    }

    /// Closes a stream in the end that is no client's.
    void uses(Stream stream) {
        open.add(stream);
        stream.onClose(_ -> gone(stream));
    }

    private void gone(Stream stream) {
        open.remove(stream);
        endIfThrough();
    }

    // ------------------------------------------------------------------ how it ends

    boolean isStopping() {
        return stoppedBy != null;
    }

    /// As a signal would, which comes from elsewhere.
    void stop(Signal signal) {
        boolean again = isStopping();
        stoppedBy = signal;
        if (door != null) {
            door.run();
        }
        if (again) {
            Set.copyOf(open).forEach(Stream::abort);
        } else if (!open.isEmpty()) {
            say("Closing what is open; once more ends it at once.");
            Set.copyOf(open).forEach(Stream::close);
        }
        endIfThrough();
    }

    private void endIfThrough() {
        if (isStopping() && open.isEmpty()) {
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
