package dev.gyre.cli;

import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

/// `gyre proxy`: forwards connections to another address.
@Command(
        name = "proxy",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Forwards TCP, TLS and Unix connections to another address.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre proxy [OPTION...] LISTEN TARGET",
        descriptionHeading = "%n",
        description = {
            "Connects to the target for each accepted connection, and forwards bytes in both"
                    + " directions with backpressure. A half-close is forwarded after all data; the"
                    + " other direction stays open. A reset is forwarded too. The first line on"
                    + " standard output is the address.",
            "",
            "If the target refuses or times out, the client is reset, and a line on standard error"
                    + " names the target and the reason. A host name is resolved for each"
                    + " connection; its addresses are tried until one accepts.",
            "",
            "Ctrl-C stops accepting, drains the open connections, and prints a summary of the"
                    + " client connections. Connections still open after 5 s, or at a second"
                    + " Ctrl-C, are reset on both sides, so that neither side takes partial data"
                    + " for complete.",
            "",
            "SIGHUP reloads the certificates. If that fails, the previous file stays"
                    + " in use and standard error has the reason. If SIGHUP means that the"
                    + " terminal was closed, the server stops as with Ctrl-C. Log entries go to"
                    + " standard error.",
            ""
        },
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
            "  gyre proxy 8080 example.org:80",
            "  gyre proxy :5432 unix:/run/postgresql/.s.PGSQL.5432",
            "  gyre proxy --idle-timeout 10m unix:/tmp/door 7777",
            "  gyre proxy --tls --cert chain.pem --key key.pem :443 8080",
            "  gyre proxy --tls-target 8080 example.org:443",
            ""
        })
final class Proxy implements Callable<Integer> {
    @Parameters(
            index = "0",
            paramLabel = "LISTEN",
            description =
                    "The address to listen on: "
                            + Addresses.FORMS
                            + ". A bare PORT listens on 127.0.0.1, :PORT on all addresses; port 0"
                            + " selects a free port.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private String listen;

    @Parameters(
            index = "1",
            paramLabel = "TARGET",
            description = "The address to connect to, in the same forms. Default host: 127.0.0.1.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private String target;

    @Option(
            names = {"-t", "--connect-timeout"},
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = Durations.class,
            description =
                    "The timeout for resolving and connecting to the target: 250ms, 30s, or a"
                            + " number of seconds. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration connectTimeout;

    @Option(
            names = "--tls-target",
            description =
                    "Uses TLS to the target. Its certificate must match the host name and be"
                            + " trusted by the JDK.")
    private boolean tlsTarget;

    @Option(
            names = "--trust",
            paramLabel = "FILE",
            description =
                    "Trusts the certificates in this PEM file, and those issued by them, instead of"
                            + " the JDK's.")
    private @Nullable Path trust;

    @Option(
            names = "--insecure",
            description =
                    "Skips verification of the target's certificate. An attacker in the middle can"
                            + " read all data.")
    private boolean insecure;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private ServerOptions options;

    @Override
    public Integer call() {
        SocketAddress from = options.address(() -> Addresses.toListenOn(listen));
        SocketAddress to = options.address(() -> Addresses.toReach(target));
        if (connectTimeout.isZero()) {
            throw options.misuse(
                    "Invalid value for option '--connect-timeout': must be longer than zero");
        }
        if (!tlsTarget && (trust != null || insecure)) {
            throw options.misuse("--trust and --insecure need --tls-target");
        }
        ListenerConfig open = options.listener();
        ListenerConfig config;
        StreamConfig towards;
        try {
            config = options.secured(open);
            towards = towards();
        } catch (IOException e) {
            options.log().printError("Cannot set up TLS: " + e.getMessage());
            return 1;
        }
        return StreamServerRunner.open(
                options.log(),
                options.loop("proxy"),
                options.loops(),
                runner -> {
                    options.configure(runner, config);
                    Tls target = towards.tls();
                    if (trust != null && target != null) {
                        runner.onHangUp("the trusted certificates " + trust, target::reload);
                    }
                    return runner.serve(
                            "Proxy on %s to " + Addresses.show(to),
                            from,
                            config,
                            client -> forward(runner, client, to, towards));
                });
    }

    private StreamConfig towards() throws IOException {
        StreamConfig config = options.streams().withConnectTimeout(connectTimeout);
        if (!tlsTarget) {
            return config;
        }
        Tls tls = trust == null ? Tls.client() : Tls.client().withTrustedCertificates(trust);
        return config.withTls(insecure ? tls.withoutVerification() : tls);
    }

    private static void forward(
            StreamServerRunner runner, Stream client, SocketAddress to, StreamConfig config) {
        runner.count(client);
        Promise<@Nullable Void> _ =
                Stream.connect(client.loop(), to, config)
                        .then(
                                server -> {
                                    join(runner, client, server);
                                    return null;
                                },
                                failure -> {
                                    refuse(runner, client, to, failure);
                                    return null;
                                });
    }

    private static void join(StreamServerRunner runner, Stream client, Stream server) {
        if (client.isOpen()) {
            runner.addOutgoing(server);
            client.join(server);
        } else {
            server.abort(); // The client disconnected meanwhile.
        }
    }

    private static void refuse(
            StreamServerRunner runner, Stream client, SocketAddress to, Throwable failure) {
        if (client.isOpen()) {
            runner.printError(
                    "Cannot reach %s for %s: %s"
                            .formatted(Addresses.show(to), nameOf(client), why(failure)));
        }
        client.abort(); // The client could take a normal close for a complete response.
    }

    private static String nameOf(Stream client) {
        String peer = Addresses.show(client.peer());
        return peer.equals("unix:") ? "a client" : peer;
    }

    private static String why(Throwable failure) {
        return failure instanceof UnknownHostException
                ? "unknown host"
                : String.valueOf(failure.getMessage());
    }
}
