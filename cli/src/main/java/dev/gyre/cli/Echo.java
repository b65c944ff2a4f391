package dev.gyre.cli;

import dev.gyre.io.ListenerConfig;
import dev.gyre.os.Signal;
import dev.gyre.os.StandardInput;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.concurrent.Callable;

/// `gyre echo`: sends back whatever it is sent.
@Command(
        name = "echo",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Sends back whatever it is sent, over TCP, TLS, UDP or a Unix domain socket.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre echo [OPTION...] [ADDRESS]",
        descriptionHeading = "%n",
        description = {
            "Listens, and sends each connection its own bytes back. One that does not take its"
                + " answers is not asked for more. When a peer ends its output, it is sent what is"
                + " left and then the end. The first line on standard output says where it listens."
                + " Nothing is polled: while nobody talks it takes no processor time.",
            "",
            "Ctrl-C stops accepting, lets the open connections finish, and prints a summary: how"
                    + " many connections there were, how many bytes, and how the connections ended."
                    + " Connections open after 5 seconds, or at a second Ctrl-C, are reset.",
            ""
        },
        parameterListHeading = "",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "1:it cannot listen there, or use a file; the reason is on standard error",
            "2:the command line makes no sense",
            "129:ended by SIGHUP: the terminal is gone",
            "130:ended by Ctrl-C",
            "143:ended by SIGTERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre echo                              on 127.0.0.1:7777",
            "  gyre echo :7777                        for other machines too",
            "  gyre echo --unix /tmp/echo.sock        try it: nc -U /tmp/echo.sock",
            "  gyre echo --idle-timeout 30s --max-per-peer 10 :7777",
            "  gyre echo --tls                        try it: openssl s_client localhost:7777",
            "  gyre echo --tls --cert chain.pem --key key.pem :7777",
            "  gyre echo --udp                        try it: nc -u 127.0.0.1 7777",
            ""
        })
final class Echo implements Callable<Integer> {
    private static final String DEFAULT_ADDRESS = "7777";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "ADDRESS",
            arity = "0..1",
            description =
                    "Where to listen: "
                            + Addresses.FORMS
                            + ". A bare port is for this machine alone, :PORT for all; port 0 lets"
                            + " the system choose. Default: 127.0.0.1:7777.")
    private @Nullable String address;

    @Option(
            names = {"-u", "--unix"},
            paramLabel = "PATH",
            description = "Listens on a Unix domain socket, as the address unix:PATH does.")
    private @Nullable String path;

    @Option(
            names = "--udp",
            description = "Sends back messages of UDP, each to where it came from.")
    private boolean udp;

    @Option(
            names = {"-p", "--max-per-peer"},
            paramLabel = "N",
            description =
                    "How many connections one address may have; further ones are closed at once."
                            + " Default: no limit.")
    private @Nullable Integer maxPerPeer;

    @Option(
            names = "--until-input-ends",
            hidden = true, // for whoever starts it and may be killed: c10k does
            description = "Ends when standard input does.")
    private boolean untilInputEnds;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private ServerOptions options;

    @Override
    public Integer call() {
        SocketAddress where = where();
        ListenerConfig open = config();
        if (udp) {
            requireMessages(where);
        }
        ListenerConfig config;
        try {
            config = options.secured(open);
        } catch (IOException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("Cannot speak TLS: " + e.getMessage());
            err.flush();
            return 1;
        }
        return Service.open(
                spec.commandLine(),
                options.loop("echo"),
                service -> {
                    if (untilInputEnds) {
                        StandardInput _ =
                                StandardInput.on(
                                        service.loop(),
                                        _ -> {},
                                        () -> service.stop(Signal.SIGTERM));
                    }
                    return udp ? serveMessages(service, where) : serve(service, where, config);
                });
    }

    private SocketAddress where() {
        String unix = path;
        if (unix == null) {
            String wanted = address == null ? DEFAULT_ADDRESS : address;
            return options.address(() -> Addresses.toListenOn(wanted));
        }
        if (address != null) {
            throw options.misuse(
                    "Both --unix and '" + address + "': a server listens in one place");
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

    private void requireMessages(SocketAddress where) {
        String alien = maxPerPeer == null ? options.onlyForStreams() : "--max-per-peer";
        if (alien != null) {
            throw options.misuse("Both --udp and " + alien + ", which is for connections");
        }
        if (where instanceof UnixDomainSocketAddress) {
            throw options.misuse("Both --udp and a path: UDP has ports");
        }
    }

    private static int serve(Service service, SocketAddress where, ListenerConfig config) {
        return service.serve(
                "Echo on %s",
                where,
                config,
                stream -> {
                    service.counts(stream);
                    stream.onData(stream::write);
                });
    }

    private static int serveMessages(Service service, SocketAddress where) {
        return service.serveMessages("Echo on %s", where, socket -> socket.onMessage(socket::send));
    }
}
