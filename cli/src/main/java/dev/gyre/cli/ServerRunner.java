package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.SystemCallException;
import dev.gyre.os.Signal;
import dev.gyre.os.StandardInput;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/// Runs a server on a group of loops: announces its address, serves until a signal arrives, drains,
/// and prints a summary. A second signal closes the remaining connections.
///
/// The main thread sets it up and waits. The first loop receives the signals.
abstract sealed class ServerRunner permits StreamServerRunner, WebServerRunner {
    static final String LOOP_STOPPED =
            "The event loop stopped unexpectedly. Run gyre doctor, and report a bug with its"
                    + " output.";

    private final LoopGroup group;
    private final CommandLine commandLine;
    private boolean stopsWithInput;

    /// Completes when the server has stopped, or its group ends. The group still runs.
    private final CompletableFuture<@Nullable Void> finished = new CompletableFuture<>();

    // First loop's thread only; the main thread's after `finished`.
    private @Nullable Signal stoppedBy;

    ServerRunner(LoopGroup group, CommandLine commandLine) {
        this.group = group;
        this.commandLine = commandLine;
    }

    /// Opens loops and runs the body on them. Prints the reason if a loop cannot be opened.
    ///
    /// @param body returns the exit status
    static int open(
            CommandLine commandLine, int loops, LoopConfig config, ToIntFunction<LoopGroup> body) {
        try (LoopGroup group = opened(loops, LoopGroupConfig.DEFAULT.withLoopConfig(config))) {
            return body.applyAsInt(group);
        } catch (UnsupportedOperationException | SystemCallException | LinkageError e) {
            print(commandLine.getErr(), LoopErrors.line(e));
        } catch (StopSignals.SignalSetupException e) {
            print(commandLine.getErr(), String.valueOf(e.getMessage()));
        }
        return 1;
    }

    private static LoopGroup opened(int loops, LoopGroupConfig config) {
        try {
            return LoopGroup.of(loops, config);
        } catch (IllegalStateException e) { // The loops need more memory than the process has.
            throw new UnsupportedOperationException(e.getMessage(), e);
        }
    }

    final LoopGroup group() {
        return group;
    }

    /// Returns the loop that receives the signals.
    final EventLoop first() {
        return group.loops().getFirst();
    }

    /// Stops at the end of standard input, as by SIGTERM.
    final void stopWithInput() {
        stopsWithInput = true;
    }

    /// Listens, serves until a signal arrives, and prints the summary.
    ///
    /// @param listening listens on the address, and returns the supplier of the summary
    /// @param started announces the address
    /// @return the exit status
    final int run(
            SocketAddress where,
            Function<SocketAddress, Supplier<String>> listening,
            Runnable started) {
        var _ = group.perLoop(this::subscribe);
        group.onShutdown(
                _ -> {
                    finish();
                    return finished;
                });
        Supplier<String> summary;
        try {
            summary = listening.apply(Addresses.resolved(where));
        } catch (SystemCallException e) {
            // The message would name the address a second time.
            String why = String.valueOf(e.getMessage());
            return refused(where, why.replaceFirst("^cannot (bind|listen).*?: (?=E)", ""));
        } catch (UnknownHostException e) {
            return refused(
                    where, "unknown host: use an address of this machine, such as 127.0.0.1");
        }
        group.start();
        started.run();
        finished.join();
        Signal signal = stoppedBy;
        if (signal == null) {
            printError(LOOP_STOPPED);
            return 1;
        }
        print("Stopped by " + signal + ": " + summary.get() + ".");
        return StopSignals.status(signal);
    }

    /// Subscribes the first loop, and the one that replaces it, to the events that stop the server.
    private Optional<EventLoop> subscribe(EventLoop loop) {
        if (!loop.equals(first())) {
            return Optional.empty();
        }
        StopSignals.on(loop, this::stop);
        if (stopsWithInput) {
            StandardInput _ = StandardInput.on(loop, _ -> {}, () -> stop(Signal.SIGTERM));
        }
        return Optional.of(loop);
    }

    private int refused(SocketAddress where, String why) {
        printError("Cannot listen on " + Addresses.show(where) + ": " + why);
        return 1;
    }

    /// Stops as if the signal had arrived. First loop's thread only.
    final void stop(Signal signal) {
        boolean again = stoppedBy != null;
        stoppedBy = signal;
        if (again) {
            stopNow();
        } else {
            drain();
        }
    }

    /// Stops accepting, and finishes once all work is done. First loop's thread only.
    abstract void drain();

    /// Finishes soon. Closing the group closes its connections. First loop's thread only.
    abstract void stopNow();

    /// Lets the main thread print the summary and close the group.
    final void finish() {
        finished.complete(null);
    }

    final void printDraining(long connections, long seconds) {
        if (connections > 0) {
            print(
                    "Draining %s (up to %d s). Press Ctrl-C again to stop now."
                            .formatted(count(connections, "connection"), seconds));
        }
    }

    static String count(long number, String what) {
        return number == 1 ? "1 " + what : number + " " + what + "s";
    }

    final void print(String line) {
        print(commandLine.getOut(), line);
    }

    /// Prints a line on standard error.
    final void printError(String line) {
        print(commandLine.getErr(), line);
    }

    private static void print(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }
}
