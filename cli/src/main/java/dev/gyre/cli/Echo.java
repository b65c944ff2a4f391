package dev.gyre.cli;

import dev.gyre.io.ListenerConfig;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.concurrent.Callable;

/// `gyre echo`: sends back whatever it is sent.
@Command(
        name = "echo",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Echoes all input over TCP, TLS, UDP or a Unix domain socket.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre echo [OPTION...] [ADDRESS]",
        descriptionHeading = "%n",
        description = {
            "Listens, and sends each connection its own bytes back. A client that does not read is"
                + " paused. When a client half-closes, it receives the remaining bytes and then the"
                + " end. The first line on standard output is the address. Connections are"
                + " distributed over the loops. An idle server uses no CPU time, except for the"
                + " watchdog (--stall-limit).",
            "",
            "Ctrl-C stops accepting, drains the open connections, and prints a summary: the number"
                    + " of connections and bytes, and the close reasons. Connections still open"
                    + " after 5 s, or at a second Ctrl-C, are reset.",
            "",
            "SIGHUP reloads the certificate. If that fails, the previous file stays"
                    + " in use and standard error has the reason. If SIGHUP means that the"
                    + " terminal was closed, the server stops as with Ctrl-C. Log entries go to"
                    + " standard error.",
            ""
        },
        parameterListHeading = "",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "1:cannot listen, or cannot use a file; the reason is on standard error",
            "2:invalid command line",
            "129:stopped because the terminal was closed (SIGHUP)",
            "130:stopped by Ctrl-C",
            "143:stopped by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre echo                              on 127.0.0.1:7777",
            "  gyre echo :7777                        reachable from other machines",
            "  gyre echo --unix /tmp/echo.sock        try it: nc -U /tmp/echo.sock",
            "  gyre echo --idle-timeout 30s --max-per-peer 10 :7777",
            "  gyre echo --tls                        try it: openssl s_client localhost:7777",
            "  gyre echo --tls --cert chain.pem --key key.pem :7777",
            "  gyre echo --udp                        try it: nc -u 127.0.0.1 7777",
            ""
        })
final class Echo implements Callable<Integer> {
    private static final String DEFAULT_ADDRESS = "7777";

    @Parameters(
            paramLabel = "ADDRESS",
            arity = "0..1",
            description =
                    "The address to listen on: "
                            + Addresses.FORMS
                            + ". A bare PORT listens on 127.0.0.1, :PORT on all addresses; port 0"
                            + " selects a free port. Default: 127.0.0.1:7777.")
    private @Nullable String address;

    @Option(
            names = {"-u", "--unix"},
            paramLabel = "PATH",
            description = "Listens on a Unix domain socket. Same as the address unix:PATH.")
    private @Nullable String path;

    @Option(names = "--udp", description = "Echoes UDP datagrams to their senders.")
    private boolean udp;

    @Option(
            names = {"-p", "--max-per-peer"},
            paramLabel = "N",
            description =
                    "The max number of connections per client address; further ones are closed at"
                            + " once. Default: no limit.")
    private @Nullable Integer maxPerPeer;

    @Option(
            names = "--until-input-ends",
            hidden = true, // for a parent process that may be killed, such as c10k
            description = "Stops at the end of standard input.")
    private boolean untilInputEnds;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private ServerOptions options;

    @Override
    public Integer call() {
        SocketAddress where = where();
        ListenerConfig open = config();
        if (udp) {
            requireDatagramOptions(where);
        }
        ListenerConfig config;
        try {
            config = options.secured(open);
        } catch (IOException e) {
            options.log().printError("Cannot set up TLS: " + e.getMessage());
            return 1;
        }
        return StreamServerRunner.open(
                options.log(),
                options.loop("echo"),
                udp ? 1 : options.loops(),
                runner -> {
                    options.configure(runner, config);
                    if (untilInputEnds) {
                        runner.stopWithInput();
                    }
                    return udp ? serveDatagrams(runner, where) : serve(runner, where, config);
                });
    }

    private SocketAddress where() {
        String unix = path;
        if (unix == null) {
            String wanted = address == null ? DEFAULT_ADDRESS : address;
            return options.address(() -> Addresses.toListenOn(wanted));
        }
        if (address != null) {
            throw options.misuse("--unix excludes the address '" + address + "'");
        }
        options.notEmpty("--unix", unix);
        return options.address(() -> Addresses.unix(unix));
    }

    private ListenerConfig config() {
        ListenerConfig config = options.listener();
        return maxPerPeer == null
                ? config
                : config.withMaxConnectionsPerPeer(
                        options.atLeastOne("--max-per-peer", maxPerPeer));
    }

    private void requireDatagramOptions(SocketAddress where) {
        String option = maxPerPeer == null ? options.onlyForStreams() : "--max-per-peer";
        if (option != null) {
            throw options.misuse("--udp excludes " + option + ", which needs connections");
        }
        if (where instanceof UnixDomainSocketAddress) {
            throw options.misuse("--udp needs a port, not a path");
        }
    }

    private static int serve(
            StreamServerRunner runner, SocketAddress where, ListenerConfig config) {
        return runner.serve(
                "Echo on %s",
                where,
                config,
                stream -> {
                    runner.count(stream);
                    stream.onData(stream::write);
                });
    }

    private static int serveDatagrams(StreamServerRunner runner, SocketAddress where) {
        return runner.serveDatagrams("Echo on %s", where, socket -> socket.onMessage(socket::send));
    }
}
