package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

/// Clauses N-1 to N-4 as every backend keeps them: bytes both ways, ends, and pressure.
public abstract class StreamContract extends StreamFixture {
    @Test
    @Clause("N-1")
    void bytes_goBothWays() {
        connect();
        record("client", client);
        server.onData(server::write);
        client.write("hello");
        awaitEvent("client hello");
        assertThat(client.sent()).isEqualTo(5);
        runUntil("counted", () -> server.sent() == 5);
        assertThat(server.received()).isEqualTo(5);
    }

    @Test
    @Clause("N-4")
    void end_ofInput_endsTheOutputBehindWhatWasWritten() {
        connect();
        StringBuilder got = new StringBuilder();
        client.onData(data -> got.append(data.getText(US_ASCII)))
                .onClose(reason -> events.add("client " + reason));
        server.onData(server::write).onClose(reason -> events.add("server " + reason));
        client.write("x".repeat(300_000));
        client.end();
        awaitEvent("client ENDED");
        awaitEvent("server ENDED");
        assertThat(got.length()).isEqualTo(300_000);
    }
}
