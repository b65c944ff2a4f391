package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;
import dev.gyre.metrics.LoopObserver;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/// The options that all servers have.
final class ServerOptions {
    /// A mebibyte, as what is received is passed on at once.
    private static final int RECEIVE_BUFFERS = 64;

    private static final int RECEIVE_BUFFER_BYTES = 16 << 10;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = {"-i", "--idle-timeout"},
            paramLabel = "DURATION",
            defaultValue = "0",
            converter = Durations.class,
            description =
                    "Closes connections that are idle for so long: 250ms, 30s, 5m, or a number of"
                            + " seconds; 0 for never. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // it has a default
    private Duration idleTimeout;

    @Option(
            names = {"-c", "--max-connections"},
            paramLabel = "N",
            description =
                    "How many connections are served at once; others wait to be accepted. Default:"
                            + " as many as the open-file limit allows.")
    private @Nullable Integer maxConnections;

    @Option(
            names = "--tls",
            description =
                    "Speaks TLS; without --cert with a certificate that vouches for itself, for"
                            + " development.")
    private boolean tls;

    @Option(
            names = "--cert",
            paramLabel = "FILE",
            description = "The server's certificate, and those that lead to it, in PEM.")
    private @Nullable Path certificate;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Its private key, in PEM. Default: in the file of --cert too.")
    private @Nullable Path key;

    @Option(
            names = {"-b", "--backend"},
            paramLabel = "NAME",
            converter = BackendReader.class,
            description =
                    "What the loop waits on: epoll or io_uring. Default: io_uring where it works.")
    private @Nullable BackendKind backend;

    LoopConfig loop(String name) {
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName(name)
                        .withReceiveBuffers(RECEIVE_BUFFERS, RECEIVE_BUFFER_BYTES)
                        .withPreferredBackend(BackendKind.IO_URING)
                        // Silent: ten thousand that are closed at once are no reason to warn.
                        .withObserver(new LoopObserver() {});
        return backend == null ? config : config.withRequiredBackend(backend);
    }

    /// How long a connection may be idle; zero for ever.
    Duration idleTimeout() {
        return idleTimeout;
    }

    /// How many connections are served at once; null for as many as there can be.
    @Nullable Integer maxConnections() {
        return maxConnections;
    }

    StreamConfig streams() {
        return StreamConfig.DEFAULT.withIdleTimeout(idleTimeout);
    }

    /// All but TLS, whose files may be amiss.
    ListenerConfig listener() {
        if (!tls && (certificate != null || key != null)) {
            throw misuse("--cert and --key are for --tls, which is not there");
        }
        if (certificate == null && key != null) {
            throw misuse("--key without --cert: a key alone says nothing to anybody");
        }
        if (certificate != null) {
            notEmpty("--cert", certificate.toString());
        }
        if (key != null) {
            notEmpty("--key", key.toString());
        }
        ListenerConfig config = ListenerConfig.DEFAULT.withStreams(streams());
        return maxConnections == null
                ? config
                : config.withMaxConnections(atLeastOne("--max-connections", maxConnections));
    }

    /// Adds TLS if it is wanted.
    ///
    /// @throws IOException if a file of it cannot be used; the message says which and why
    ListenerConfig secured(ListenerConfig config) throws IOException {
        if (!tls) {
            return config;
        }
        if (certificate != null) {
            return config.withTls(Tls.server(certificate, key == null ? certificate : key));
        }
        PrintWriter err = spec.commandLine().getErr();
        err.println(
                "The certificate vouches for itself, for development: clients have to be told not"
                        + " to verify it.");
        err.flush();
        return config.withTls(Tls.selfSigned());
    }

    /// What of this does not go with datagrams; null if all does.
    @Nullable String onlyForStreams() {
        return tls
                ? "--tls"
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

    /// An empty one is a variable of the shell that nobody set.
    String notEmpty(String option, String value) {
        if (value.isEmpty()) {
            throw misuse("Invalid value for option '" + option + "': it is empty");
        }
        return value;
    }

    /// What is wrong about it is wrong about the command line.
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

    static final class BackendReader implements ITypeConverter<BackendKind> {
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
