package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// What becomes of streams when the loop ends.
public abstract class StreamEndsContract extends StreamFixture {
    @Test
    @Clause({"S-1", "S-2"})
    void shutdown_ofIdleStreams_waitsForNothing() {
        connect();
        record("client", client);
        record("server", server);
        loop.submit(() -> loop.shutdown(Duration.ofHours(1)));
        loop.run();
        assertThat(events).containsExactlyInAnyOrder("client LOOP_ENDED", "server LOOP_ENDED");
    }

    @Test
    @Clause("S-3")
    void close_ofTheLoop_tellsEveryStreamOnce() {
        connect();
        record("client", client);
        record("server", server);
        server.write(new byte[100_000]);
        loop.close();
        assertThat(events).containsExactlyInAnyOrder("client LOOP_ENDED", "server LOOP_ENDED");
    }
}
