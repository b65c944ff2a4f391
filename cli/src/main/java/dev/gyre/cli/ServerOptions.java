package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Supplier;

/// The options that all servers share.
final class ServerOptions {
    /// 1 MiB in total: received bytes are forwarded at once.
    private static final int RECEIVE_BUFFERS = 64;

    private static final int RECEIVE_BUFFER_BYTES = 16 << 10;
    static final int MAX_LOOPS = 1_024;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-i", "--idle-timeout"},
            paramLabel = "DURATION",
            defaultValue = "0",
            converter = Durations.class,
            description =
                    "Closes connections idle for this long: 250ms, 30s, 5m, or a number of seconds;"
                            + " 0 for never. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration idleTimeout;

    @Option(
            names = {"-c", "--max-connections"},
            paramLabel = "N",
            description =
                    "The max number of open connections; further ones wait in the backlog. Default:"
                            + " as many as the open-file limit allows.")
    private @Nullable Integer maxConnections;

    @Option(
            names = {"-n", "--loops"},
            paramLabel = "N",
            description =
                    "The number of event loops, each with its own thread. Default: one per"
                        + " processor; one for UDP, and for a Unix domain socket of gyre serve.")
    private @Nullable Integer loops;

    @Option(
            names = "--tls",
            description =
                    "Uses TLS. Without --cert a self-signed certificate is generated, for"
                            + " development.")
    private boolean tls;

    @Option(
            names = "--cert",
            paramLabel = "FILE",
            description = "The server's certificate chain, in PEM.")
    private @Nullable Path certificate;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "The private key, in PEM. Default: the file given by --cert.")
    private @Nullable Path key;

    @Option(
            names = {"-b", "--backend"},
            paramLabel = "NAME",
            converter = BackendConverter.class,
            description = "The backend: epoll or io_uring. Default: io_uring if available.")
    private @Nullable BackendKind backend;

    @Option(
            names = {"-v", "--verbose"},
            description =
                    "Logs each connection when it opens and closes, on standard error: id, peer,"
                            + " reason, bytes. The access log then has the ids too.")
    private boolean verbose;

    @Option(
            names = "--log-format",
            paramLabel = "FORMAT",
            converter = FormatConverter.class,
            defaultValue = "text",
            description =
                    "The format of all output except the access log: text, or json for one object"
                            + " per line with time, level, logger, message, and stack if any."
                            + " Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private ServerLog.Format logFormat;

    @Option(
            names = "--admin",
            paramLabel = "ADDRESS",
            description =
                    "Serves a dashboard, metrics and the list of connections on this port of"
                            + " 127.0.0.1, or on a Unix domain socket if it is a path; for gyre top"
                            + " and gyre trace. Port 0 selects a free port. Default: off.")
    private @Nullable String admin;

    @Option(
            names = "--stall-limit",
            paramLabel = "DURATION",
            defaultValue = "1s",
            converter = Durations.class,
            description =
                    "Logs callbacks that block a loop for longer than this, with their stack; 0"
                            + " for never. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration stallLimit;

    private @Nullable ServerLog log;

    boolean isVerbose() {
        return verbose;
    }

    /// Returns the server's log, opened at the first call.
    ServerLog log() {
        ServerLog opened = log;
        if (opened == null) {
            opened = ServerLog.open(spec.commandLine(), logFormat);
            log = opened;
        }
        return opened;
    }

    LoopConfig loop(String name) {
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName(name)
                        .withReceiveBuffers(RECEIVE_BUFFERS, RECEIVE_BUFFER_BYTES)
                        .withPreferredBackend(BackendKind.IO_URING)
                        .withObserver(new ServerObserver(log(), verbose));
        return backend == null ? config : config.withRequiredBackend(backend);
    }

    /// Returns the number of loops. Default: one per processor.
    int loops() {
        return loops(Runtime.getRuntime().availableProcessors());
    }

    int loops(int defaultCount) {
        int wanted = loops == null ? Math.min(defaultCount, MAX_LOOPS) : loops;
        if (wanted > MAX_LOOPS) {
            throw misuse(
                    "Invalid value for option '--loops': must be at most %d, but is %d"
                            .formatted(MAX_LOOPS, wanted));
        }
        return atLeastOne("--loops", wanted);
    }

    /// Returns how long a connection may be idle; zero for no limit.
    Duration idleTimeout() {
        return idleTimeout;
    }

    StreamConfig streams() {
        return StreamConfig.DEFAULT.withIdleTimeout(idleTimeout);
    }

    /// Returns the configuration without TLS.
    ListenerConfig listener() {
        if (!tls && (certificate != null || key != null)) {
            throw misuse("--cert and --key need --tls");
        }
        if (certificate == null && key != null) {
            throw misuse("--key needs --cert");
        }
        if (certificate != null) {
            notEmpty("--cert", certificate.toString());
        }
        if (key != null) {
            notEmpty("--key", key.toString());
        }
        SocketAddress _ = adminAddress(); // reports an invalid one before any file is read
        ListenerConfig config = ListenerConfig.DEFAULT.withStreams(streams());
        return maxConnections == null
                ? config
                : config.withMaxConnections(atLeastOne("--max-connections", maxConnections));
    }

    /// Adds TLS if requested.
    ///
    /// @throws IOException if a certificate or key file cannot be used; the message names the file
    ///     and the reason
    ListenerConfig secured(ListenerConfig config) throws IOException {
        if (!tls) {
            return config;
        }
        if (certificate != null) {
            return config.withTls(Tls.server(certificate, key == null ? certificate : key));
        }
        log().printError(
                        "Using a self-signed certificate, for development only: clients must skip"
                                + " verification (curl -k).");
        return config.withTls(Tls.selfSigned());
    }

    private @Nullable SocketAddress adminAddress() {
        String text = admin;
        if (text == null) {
            return null;
        }
        String numeric = text.replaceFirst("^localhost:", "127.0.0.1:");
        SocketAddress parsed =
                address(
                        () ->
                                AdminOptions.isPath(text)
                                        ? Addresses.unix(text)
                                        : Addresses.toListenOn(numeric));
        if (parsed instanceof InetSocketAddress internet
                && (internet.isUnresolved() || !internet.getAddress().isLoopbackAddress())) {
            String why =
                    internet.isUnresolved()
                            ? "is a host name: write an IP address, such as 127.0.0.1"
                            : "is reachable from other machines: use a port of 127.0.0.1 or a"
                                    + " socket path; from another machine, connect through ssh -L";
            throw misuse("Invalid value for option '--admin': '" + text + "' " + why);
        }
        return parsed;
    }

    /// Sets what all servers have: the admin address, the watchdog, and a certificate that SIGHUP
    /// reloads if it is from a file.
    void configure(ServerRunner runner, ListenerConfig config) {
        runner.monitor(adminAddress(), stallLimit);
        Tls reloaded = config.streams().tls();
        if (reloaded != null && certificate != null) {
            runner.onHangUp("the certificate " + certificate, reloaded::reload);
        }
    }

    /// Returns a given option that UDP does not support; `null` if there is no such option.
    @Nullable String onlyForStreams() {
        return tls
                ? "--tls"
                : loops != null && loops > 1
                        ? "--loops"
                        : maxConnections != null
                                ? "--max-connections"
                                : !idleTimeout.isZero() ? "--idle-timeout" : null;
    }

    int atLeastOne(String option, int value) {
        if (value < 1) {
            throw misuse(
                    "Invalid value for option '%s': must be at least 1, but is %d"
                            .formatted(option, value));
        }
        return value;
    }

    /// Rejects an empty value, which usually is an unset shell variable.
    String notEmpty(String option, String value) {
        if (value.isEmpty()) {
            throw misuse("Invalid value for option '" + option + "': must not be empty");
        }
        return value;
    }

    /// Parses an address, and reports an invalid one as a usage error.
    <T> T address(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (IllegalArgumentException e) {
            throw misuse(String.valueOf(e.getMessage()));
        }
    }

    ParameterException misuse(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    static final class FormatConverter implements ITypeConverter<ServerLog.Format> {
        @Override
        public ServerLog.Format convert(String value) {
            for (ServerLog.Format each : ServerLog.Format.values()) {
                if (each.name().toLowerCase(Locale.ROOT).equals(value)) {
                    return each;
                }
            }
            throw new TypeConversionException("'" + value + "' is not text or json");
        }
    }

    static final class BackendConverter implements ITypeConverter<BackendKind> {
        @Override
        public BackendKind convert(String value) {
            try {
                return BackendKind.of(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
