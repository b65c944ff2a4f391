package dev.gyre.cli;

import java.util.List;
import java.util.regex.Pattern;

/// A kind of load: the server to start, its messages, and its limits.
enum LoadKind {
    ECHO(
            List.of("echo", "--until-input-ends", "127.0.0.1:0"),
            "Echo on (\\S+) \\((.*)\\)\\..*",
            "a message of " + EchoLoadClient.MESSAGE_BYTES + " bytes",
            80_000_000,
            50_000_000) {
        @Override
        LoadClient client(int index, LoadClients clients) {
            return new EchoLoadClient(index, clients);
        }
    },

    /// Its server does more than this test needs, so only the growth of its memory is limited.
    HTTP(
            List.of("serve", "--until-input-ends", "--port", "0", "--idle-timeout", "0"),
            "Demo on http://(\\S+)/ \\((.*)\\)\\..*",
            "a request for " + HttpLoadClient.TARGET,
            Long.MAX_VALUE,
            100_000_000) {
        @Override
        LoadClient client(int index, LoadClients clients) {
            return new HttpLoadClient(clients);
        }
    };

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> command;

    private final Pattern announcement;
    private final String message;
    private final long maxIdleBytes;
    private final long maxP99Nanos;

    LoadKind(
            List<String> command,
            String announcement,
            String message,
            long maxIdleBytes,
            long maxP99Nanos) {
        this.command = command;
        this.announcement = Pattern.compile(announcement);
        this.message = message;
        this.maxIdleBytes = maxIdleBytes;
        this.maxP99Nanos = maxP99Nanos;
    }

    abstract LoadClient client(int index, LoadClients clients);

    /// Returns the arguments of `gyre` for a server on a free port that stops with its input.
    List<String> command() {
        return command;
    }

    /// Matches the server's first line: address, then transport and backend.
    Pattern announcement() {
        return announcement;
    }

    /// Describes the message.
    String message() {
        return message;
    }

    /// Returns the max resident memory of the server with all connections idle.
    long maxIdleBytes() {
        return maxIdleBytes;
    }

    /// Returns the exclusive upper limit of the 99th percentile.
    long maxP99Nanos() {
        return maxP99Nanos;
    }
}
