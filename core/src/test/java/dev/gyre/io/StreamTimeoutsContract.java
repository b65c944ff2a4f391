package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// Clause N-5 as every backend keeps it. Times are short, and only what has to happen is waited for: nothing is
/// decided by how long it took.
public abstract class StreamTimeoutsContract extends StreamFixture {
    private static final Duration SOON = Duration.ofMillis(30);
    static final Duration LATER = Duration.ofMillis(120);

    static final StreamConfig SMALL =
            StreamConfig.DEFAULT.withSocket(SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10));

    @Test
    @Clause("N-5")
    void idle_forTooLong_closes() {
        connect(StreamConfig.DEFAULT.withIdleTimeout(SOON), StreamConfig.DEFAULT);
        record("client", client);
        server.onClose(reason -> events.add("server " + reason));
        awaitEvent("server IDLE_TIMEOUT");
        awaitEvent("client end");
    }

    @Test
    @Clause("N-5")
    void read_forTooLong_closes_thoughOutputGoesOn() {
        connect(StreamConfig.DEFAULT.withReadTimeout(SOON), StreamConfig.DEFAULT);
        server.onData(Buffer::clear).onClose(reason -> events.add("server " + reason));
        client.onData(Buffer::clear);
        loop.every(
                Duration.ofMillis(5),
                timer -> {
                    if (server.isOpen()) {
                        server.write("x");
                    } else {
                        timer.cancel();
                    }
                });
        awaitEvent("server READ_TIMEOUT");
    }

    @Test
    @Clause("N-5")
    void close_withTheTimeoutOfAProtocol_isReportedAndCountedAsThat() {
        connect();
        record("client", client);
        server.onClose(reason -> events.add("server " + reason));

        server.write("too slow");
        server.close(CloseReason.HEADER_TIMEOUT);
        server.close(CloseReason.BODY_TIMEOUT);

        awaitEvent("server HEADER_TIMEOUT");
        awaitEvent("client end");
        assertThat(events).contains("client too slow");
        assertThat(server.closeReason()).isEqualTo(CloseReason.HEADER_TIMEOUT);
        assertThat(loop.metrics().streamsClosed(CloseReason.HEADER_TIMEOUT)).isEqualTo(1);
        assertThat(loop.metrics().streamsClosed(CloseReason.CLOSED)).isZero();
    }

    @Test
    @Clause("N-5")
    void close_withTheTimeoutOfAProtocol_isReportedAsThatHoweverThePeerEnds() {
        connect(StreamConfig.DEFAULT.withLingerTimeout(SOON), StreamConfig.DEFAULT);
        client.onData(Buffer::clear);
        client.pause(); // It never ends its side.
        server.close(CloseReason.IDLE_TIMEOUT);
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.IDLE_TIMEOUT);
        client.abort();
        server = null;

        connect();
        server.close(CloseReason.BODY_TIMEOUT);
        client.abort();
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.BODY_TIMEOUT);
    }

    @Test
    @Clause("N-5")
    void abort_withTheTimeoutOfAProtocol_resetsAndIsReportedAsThat() {
        connect();
        record("client", client);
        server.abort(CloseReason.WRITE_TIMEOUT);

        awaitEvent("client RESET");
        assertThat(server.closeReason()).isEqualTo(CloseReason.WRITE_TIMEOUT);
        assertThat(loop.metrics().streamsClosed(CloseReason.ABORTED)).isZero();
    }

    @Test
    @Clause("N-5")
    void close_withWhatIsNoTimeout_isRefused() {
        connect();
        assertThatThrownBy(() -> server.close(CloseReason.RESET))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CLOSED or a timeout");
        assertThatThrownBy(() -> server.abort(CloseReason.CLOSED))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ABORTED or a timeout");
        assertThat(server.isOpen()).isTrue();
    }

    @Test
    @Clause("N-5")
    void read_whileNobodyWantsTo_isNotTimed() {
        connect(StreamConfig.DEFAULT.withReadTimeout(SOON), StreamConfig.DEFAULT);
        server.onData(Buffer::clear);
        server.pause();
        loop.after(LATER, timer -> events.add("later"));
        awaitEvent("later");
        assertThat(server.isOpen()).isTrue();
        server.resume();
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.READ_TIMEOUT);
    }

    @Test
    @Clause("N-5")
    void write_thatThePeerNeverTakes_closes() {
        connect(SMALL.withWriteTimeout(SOON), SMALL);
        client.onData(Buffer::clear);
        client.pause();
        server.onClose(reason -> events.add("server " + reason));
        server.write(new byte[8 << 20]);
        awaitEvent("server WRITE_TIMEOUT");
        runUntil("its memory is back", () -> loop.metrics().bufferMemory() == 0);
    }

    @Test
    @Clause("N-5")
    void close_lingersNoLongerThanAllowed() {
        connect(SMALL.withLingerTimeout(SOON), SMALL);
        client.onData(Buffer::clear);
        client.pause();
        server.onClose(reason -> events.add("server " + reason));
        server.write(new byte[8 << 20]);
        server.close();
        awaitEvent("server LINGER_TIMEOUT");
    }

    @Test
    @Clause("N-5")
    void close_lingersShortlyIfThatWasSaid_whenAllIsSentAndNotBefore() {
        connect(SMALL.withLingerTimeout(Duration.ofDays(1_000_000)), SMALL);
        long[] got = {0};
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        client.onEnd(() -> events.add("client end")); // And keeps its own side open.
        client.pause();
        server.onClose(reason -> events.add("server " + reason));
        server.write(new byte[8 << 20]);
        server.lingerAtMost(SOON).close();
        loop.after(SOON.multipliedBy(3), _ -> events.add("later"));
        awaitEvent("later");
        assertThat(events).as("all of it is to be taken first").containsExactly("later");
        client.resume();
        awaitEvent("server LINGER_TIMEOUT");
        awaitEvent("client end");
        assertThat(got[0]).isEqualTo(8 << 20);
        assertThatThrownBy(() -> client.lingerAtMost(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Clause("N-5")
    void protocol_mayGoOnAfterATimeout() {
        connect(StreamConfig.DEFAULT.withIdleTimeout(SOON), StreamConfig.DEFAULT);
        int[] times = {0};
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {
                        data.clear();
                    }

                    @Override
                    public boolean onTimeout(Stream stream, TimeoutKind timeout) {
                        events.add(timeout.toString());
                        return ++times[0] < 3;
                    }

                    @Override
                    public void onClose(Stream stream, CloseReason reason) {
                        events.add(reason.toString());
                    }
                });
        awaitEvent("IDLE_TIMEOUT");
        assertThat(events).containsExactly("IDLE", "IDLE", "IDLE", "IDLE_TIMEOUT");
    }

    @Test
    @Clause("N-5")
    void timeout_canBeSetAndTakenBackLater() {
        connect();
        server.onData(Buffer::clear).onClose(reason -> events.add("server " + reason));
        server.idleTimeout(SOON);
        server.idleTimeout(Duration.ZERO);
        loop.after(LATER, timer -> events.add("later"));
        awaitEvent("later");
        assertThat(server.isOpen()).isTrue();
        server.readTimeout(SOON);
        awaitEvent("server READ_TIMEOUT");
    }

    @Test
    @Clause("N-5")
    void timeouts_keepNoLoopAlive() {
        connect(StreamConfig.DEFAULT.withIdleTimeout(Duration.ofHours(1)), StreamConfig.DEFAULT);
        listener.close();
        loop.runUntilEmpty();
        assertThat(server.isOpen()).isTrue();
    }
}
