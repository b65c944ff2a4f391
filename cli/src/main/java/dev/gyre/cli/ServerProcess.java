package dev.gyre.cli;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.io.Descriptor;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Command;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;
import dev.gyre.os.Stdio;

import java.io.File;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;

/// A server in its own process, which exits with this one at the latest.
///
/// Loop thread only.
final class ServerProcess {
    /// The path of the launcher, if it started this program. The server is then started the same
    /// way as by a user.
    private static final String LAUNCHER = "gyre.launcher";

    private static final int MAX_LINE_BYTES = 4096;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final EventLoop loop;
    private final LoadKind kind;
    private final ChildProcess process;
    private final Deferred<Where> where;
    private final ByteBuffer line = ByteBuffer.allocateDirect(MAX_LINE_BYTES);

    /// @param address the server's address
    /// @param kind transport and backend, as announced
    record Where(SocketAddress address, String kind) {}

    private ServerProcess(EventLoop loop, LoadKind kind, ChildProcess process) {
        this.loop = loop;
        this.kind = kind;
        this.process = process;
        where = loop.deferred();
    }

    /// @param options additional options for its command
    /// @throws dev.gyre.SystemCallException if the process cannot be started
    static ServerProcess start(EventLoop loop, LoadKind kind, List<String> options) {
        List<String> words = new ArrayList<>(gyre());
        words.addAll(kind.command());
        words.addAll(options);
        Command command =
                Command.of(words)
                        .withInput(Stdio.PIPE) // It closes when this process exits, for any reason.
                        .withOutput(Stdio.PIPE)
                        .withOwnGroup();
        ServerProcess server = new ServerProcess(loop, kind, ChildProcess.start(loop, command));
        server.watch();
        return server;
    }

    private static List<String> gyre() {
        String launcher = System.getProperty(LAUNCHER);
        if (launcher != null) {
            return List.of(launcher);
        }
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String modules = System.getProperty("jdk.module.path");
        String main = Main.class.getName();
        return modules == null
                ? List.of(
                        java,
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path", File.pathSeparator),
                        main)
                : List.of(
                        java,
                        "--enable-native-access=dev.gyre",
                        "--module-path",
                        modules,
                        "--module",
                        "dev.gyre.cli/" + main);
    }

    private void watch() {
        loop.own(() -> process.input().close());
        process.onExit(
                exit ->
                        where.reject(
                                new IllegalStateException("the server " + exit + " at start")));
        Watcher _ = loop.watch(process.output(), WatchSpec.reading(_ -> read(process.output())));
    }

    /// Parses the first line, which contains the address, and ignores the rest.
    private void read(Descriptor output) {
        int count = output.read(line);
        if (count == Descriptor.END) {
            output.close();
            return;
        }
        byte[] bytes = new byte[line.position()];
        line.get(0, bytes);
        String text = new String(bytes, StandardCharsets.UTF_8);
        int end = text.indexOf('\n');
        if (end >= 0 || !line.hasRemaining()) {
            line.clear();
            announced(end < 0 ? text : text.substring(0, end));
        }
    }

    private void announced(String first) {
        Matcher matcher = kind.announcement().matcher(first);
        if (matcher.matches()) {
            // Resolving a name for each connection is slow, and may yield addresses without a
            // listener.
            String address = matcher.group(1).replaceFirst("^localhost:", "127.0.0.1:");
            where.resolve(new Where(Addresses.toReach(address), matcher.group(2)));
        } else if (!where.promise().isSettled()) {
            where.reject(new IllegalStateException("unexpected output of the server: " + first));
        }
    }

    /// Resolves once the server listens.
    Promise<Where> where() {
        return where.promise();
    }

    int pid() {
        return process.pid();
    }

    ProcessStats stats() {
        return ProcessStats.of(process.pid());
    }

    /// Resolves once the server has exited.
    Promise<Exit> exited() {
        return process.exited();
    }

    /// Stops the server with SIGTERM, and with SIGKILL after a timeout.
    Promise<Exit> stop() {
        boolean _ = process.signal(Signal.SIGTERM);
        Timer kill = loop.after(STOP_TIMEOUT, _ -> process.signal(Signal.SIGKILL)).unreference();
        return process.exited().finallyRun(kill::cancel);
    }
}
