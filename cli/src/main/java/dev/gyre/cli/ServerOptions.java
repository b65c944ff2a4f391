package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

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
                    "Closes connections on which nothing moves for so long: 30s, 5m; 0 for never."
                            + " Default: ${DEFAULT-VALUE}.")
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
            names = {"-b", "--backend"},
            paramLabel = "NAME",
            converter = BackendReader.class,
            description = "What the loop waits on: epoll or io_uring. Default: the best there is.")
    private @Nullable BackendKind backend;

    LoopConfig loop(String name) {
        LoopConfig config =
                LoopConfig.DEFAULT
                        .withName(name)
                        .withReceiveBuffers(RECEIVE_BUFFERS, RECEIVE_BUFFER_BYTES);
        return backend == null ? config : config.withBackend(backend);
    }

    StreamConfig streams() {
        return StreamConfig.DEFAULT.withIdleTimeout(idleTimeout);
    }

    ListenerConfig listener() {
        ListenerConfig config = ListenerConfig.DEFAULT.withStreams(streams());
        return maxConnections == null
                ? config
                : config.withMaxConnections(atLeastOne("--max-connections", maxConnections));
    }

    int atLeastOne(String option, int value) {
        if (value < 1) {
            throw misuse(
                    "Invalid value for option '%s': must be at least 1, but is %d"
                            .formatted(option, value));
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
