package dev.gyre.cli;

import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

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
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

/// `gyre proxy`: passes connections on to another address.
@Command(
        name = "proxy",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        header = "Passes connections on to another address, byte by byte, both ways.",
        synopsisHeading = "%nUsage: ",
        customSynopsis = "gyre proxy [OPTION...] LISTEN TARGET",
        descriptionHeading = "%n",
        description = {
            "Connects to the target for each connection that it accepts, and passes on what either"
                + " side sends, as fast as the other takes it and no faster. When one side ends its"
                + " output the other reads all of it and then the end, and may still answer; when"
                + " one is reset, so is the other. The first line on standard output says where it"
                + " listens.",
            "",
            "If the target refuses, or does not answer in time, the client is reset, and a line on"
                + " standard error names the target and why. A host name is looked up anew for each"
                + " connection; of several addresses the first that answers is used.",
            "",
            "Ctrl-C stops accepting, lets the open connections finish, and prints a summary of the"
                    + " clients' connections. Connections open after 5 seconds, or at a second"
                    + " Ctrl-C, are reset on both sides, so that no peer mistakes partial"
                    + " data for all of it.",
            ""
        },
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
            "  gyre proxy 8080 example.org:80",
            "  gyre proxy :5432 unix:/run/postgresql/.s.PGSQL.5432",
            "  gyre proxy --idle-timeout 10m unix:/tmp/door 7777",
            "  gyre proxy --tls --cert chain.pem --key key.pem :443 8080",
            "  gyre proxy --tls-target 8080 example.org:443",
            ""
        })
final class Proxy implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "LISTEN",
            description =
                    "Where to listen: "
                            + Addresses.FORMS
                            + ". A bare port is for this machine alone, :PORT for all; port 0 lets"
                            + " the system choose.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private String listen;

    @Parameters(
            index = "1",
            paramLabel = "TARGET",
            description = "Where to connect, in the same forms; without a host it is this machine.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private String target;

    @Option(
            names = {"-t", "--connect-timeout"},
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = Durations.class,
            description =
                    "How long the target has to answer, looking its name up included: 250ms, 30s,"
                            + " or a number of seconds. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration connectTimeout;

    @Option(
            names = "--tls-target",
            description =
                    "Speaks TLS with the target, whose certificate has to be of its name and of"
                            + " somebody the JDK trusts.")
    private boolean tlsTarget;

    @Option(
            names = "--trust",
            paramLabel = "FILE",
            description =
                    "Trusts the target's certificate if it is in this file, in PEM, or certified by"
                            + " one that is.")
    private @Nullable Path trust;

    @Option(
            names = "--insecure",
            description =
                    "Trusts any certificate of the target: whoever is between can read it all.")
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
            throw options.misuse("--trust and --insecure are for --tls-target, which is not there");
        }
        ListenerConfig open = options.listener();
        ListenerConfig config;
        StreamConfig towards;
        try {
            config = options.secured(open);
            towards = towards();
        } catch (IOException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("Cannot speak TLS: " + e.getMessage());
            err.flush();
            return 1;
        }
        return Service.open(
                spec.commandLine(),
                options.loop("proxy"),
                service ->
                        service.serve(
                                "Proxy on %s to " + Addresses.show(to),
                                from,
                                config,
                                client -> passOn(service, client, to, towards)));
    }

    private StreamConfig towards() throws IOException {
        StreamConfig config = options.streams().withConnectTimeout(connectTimeout);
        if (!tlsTarget) {
            return config;
        }
        Tls tls = trust == null ? Tls.client() : Tls.client().withTrustedCertificates(trust);
        return config.withTls(insecure ? tls.withoutVerification() : tls);
    }

    private static void passOn(
            Service service, Stream client, SocketAddress to, StreamConfig config) {
        service.counts(client);
        Promise<@Nullable Void> _ =
                Stream.connect(service.loop(), to, config)
                        .then(
                                server -> {
                                    join(service, client, server);
                                    return null;
                                },
                                failure -> {
                                    refuse(service, client, to, failure);
                                    return null;
                                });
    }

    private static void join(Service service, Stream client, Stream server) {
        if (client.isOpen()) {
            service.uses(server);
            client.join(server);
        } else {
            server.abort(); // The client has left meanwhile.
        }
    }

    private static void refuse(
            Service service, Stream client, SocketAddress to, Throwable failure) {
        if (client.isOpen()) {
            service.complain(
                    "Cannot reach %s for %s: %s"
                            .formatted(Addresses.show(to), whom(client), why(failure)));
        }
        client.abort(); // Not an end, which could pass for an answer.
    }

    private static String whom(Stream client) {
        String peer = Addresses.show(client.peer());
        return peer.equals("unix:") ? "a client" : peer;
    }

    private static String why(Throwable failure) {
        return failure instanceof UnknownHostException
                ? "no such host is known"
                : String.valueOf(failure.getMessage());
    }
}
