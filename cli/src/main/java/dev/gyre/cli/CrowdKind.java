package dev.gyre.cli;

import java.util.List;
import java.util.regex.Pattern;

/// What a crowd comes for: which server it is brought to, and what that is held to.
enum CrowdKind {
    ECHO(
            List.of("echo", "--until-input-ends", "127.0.0.1:0"),
            "Echo on (\\S+) \\((.*)\\)\\..*",
            "a message of " + EchoMember.MESSAGE_BYTES + " bytes",
            80_000_000,
            50_000_000) {
        @Override
        Member member(int index, Crowd crowd) {
            return new EchoMember(index, crowd);
        }
    },

    /// Whose server is made for more than this, and so is not held to a size: only to keeping it.
    HTTP(
            List.of(
                    "serve",
                    "--until-input-ends",
                    "--port",
                    "0",
                    "--loops",
                    "1",
                    "--idle-timeout",
                    "0"),
            "Demo on http://(\\S+)/ \\((.*)\\)\\..*",
            "a request for " + HttpMember.TARGET,
            Long.MAX_VALUE,
            100_000_000) {
        @Override
        Member member(int index, Crowd crowd) {
            return new HttpMember(crowd);
        }
    };

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> command;

    private final Pattern announcement;
    private final String message;
    private final long mostIdleBytes;
    private final long mostP99Nanos;

    CrowdKind(
            List<String> command,
            String announcement,
            String message,
            long mostIdleBytes,
            long mostP99Nanos) {
        this.command = command;
        this.announcement = Pattern.compile(announcement);
        this.message = message;
        this.mostIdleBytes = mostIdleBytes;
        this.mostP99Nanos = mostP99Nanos;
    }

    abstract Member member(int index, Crowd crowd);

    /// What `gyre` is told, to have a server on a port of its choice that ends with its input.
    List<String> command() {
        return command;
    }

    /// The server's first line: where it is, and how, in its own words.
    Pattern announcement() {
        return announcement;
    }

    /// What is sent, in words.
    String message() {
        return message;
    }

    /// How much memory the server may have with all connections idle.
    long mostIdleBytes() {
        return mostIdleBytes;
    }

    /// What 99 of 100 messages have to stay below.
    long mostP99Nanos() {
        return mostP99Nanos;
    }
}
