package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;

/// Data that has not reached its end is never followed by an orderly end.
public abstract class StreamCutContract extends StreamFixture {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofHours(1);

    /// The two ends of the connection to the origin; `client` and `server` are those to the user of a proxy.
    private Stream origin;

    private Stream upstream;

    /// How many bytes a proxy and the kernel hold for a client that reads nothing.
    protected int heldByAProxy() {
        return 150_000;
    }

    /// A proxy between `client` and `origin`, which has passed on some bytes and no end.
    private void proxy() {
        connect();
        origin = client;
        upstream = server;
        server = null;
        client = outcome(Stream.connect(loop, listener.address()));
        runUntil("accepted", () -> server != null);
        record("origin", origin);
        record("client", client);
        upstream.join(server);
        origin.write("part");
        awaitEvent("client part");
    }

    @Test
    @Clause({"N-4", "N-5"})
    void idleTimeout_ofAJoinedStream_resetsBothPeers() {
        proxy();
        server.idleTimeout(SHORT);
        awaitEvent("client RESET");
        awaitEvent("origin RESET");
        assertThat(events).doesNotContain("client end", "origin end");
        assertThat(server.closeReason()).isEqualTo(CloseReason.IDLE_TIMEOUT);
    }

    @Test
    @Clause("N-4")
    void join_whoseBothPeersEndWhileOneReadsNothing_deliversAllOfIt() {
        proxy();
        long[] got = {0};
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        client.pause();
        origin.write(new byte[8 << 20]);
        origin.end();
        client.end();
        awaitEvent("origin end");
        settle();
        client.resume();
        runUntil("all of it", () -> got[0] == 8 << 20);
        awaitEvent("client ENDED");
    }

    @Test
    @Clause("N-4")
    void join_whoseSourceIsResetAfterItsEnd_deliversAllOfIt() {
        proxy();
        long[] got = {0};
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        client.pause();
        origin.write(new byte[heldByAProxy()]);
        origin.end();
        settle();
        origin.abort();
        awaitClosed(upstream);
        assertThat(upstream.closeReason()).isEqualTo(CloseReason.RESET);
        client.resume();
        runUntil("all of it", () -> got[0] == heldByAProxy());
        awaitEvent("client end");
    }

    @Test
    @Clause("N-4")
    void end_ofBothDirectionsWithInputUnread_keepsItUntilItIsRead() {
        connect();
        StringBuilder got = new StringBuilder();
        server.onData(
                data -> {
                    got.append((char) data.get());
                    server.pause();
                });
        server.onEnd(() -> got.append('.'));
        client.write("abc");
        client.end();
        runUntil("the first", () -> got.length() == 1);
        settle();
        server.resume(); // The end arrives while the next byte is delivered, and pauses again.
        runUntil("the second", () -> got.length() == 2);
        settle();
        server.end();
        settle();
        assertThat(server.closeReason()).as("a byte is unread").isNull();
        server.resume();
        settle();
        server.resume();
        awaitClosed(server);
        assertThat(got).hasToString("abc.");
        assertThat(server.closeReason()).isEqualTo(CloseReason.ENDED);
    }

    @Test
    @Clause({"N-4", "N-5"})
    void readTimeout_ofAPipesTarget_resetsItsPeer() {
        connect();
        Stream source = pipeSource();
        record("client", client);
        Promise<Long> piped = source.pipe(server);
        piped.recover(_ -> 0L);
        server.onData(Buffer::clear);
        server.readTimeout(SHORT);
        awaitEvent("client RESET");
        assertThat(events).doesNotContain("client end");
        assertThat(failure(piped)).isInstanceOf(StreamClosedException.class);
    }

    private Stream pipeSource() {
        Stream[] pair = {client, server};
        server = null;
        Stream other = outcome(Stream.connect(loop, listener.address()));
        runUntil("accepted", () -> server != null);
        server = pair[1];
        return other;
    }

    @Test
    @Clause("N-4")
    void close_ofAPipesTargetBeforeTheEnd_resetsItsPeer() {
        proxy();
        server.close();
        awaitEvent("client RESET");
        awaitEvent("origin RESET");
        assertThat(server.closeReason()).isEqualTo(CloseReason.ABORTED);
        assertThat(events).doesNotContain("client end", "origin end");
    }

    @Test
    @Clause("N-4")
    void close_ofAPipesSource_resetsThePeerOfItsTarget() {
        connect();
        Stream source = pipeSource();
        record("client", client);
        Promise<Long> piped = source.pipe(server);
        source.close();
        assertThat(failure(piped)).isInstanceOf(StreamClosedException.class);
        server.close();
        awaitEvent("client RESET");
        assertThat(events).doesNotContain("client end");
    }

    @Test
    @Clause("N-4")
    void end_ofAPipesTargetByItsUser_isAnEnd() {
        connect();
        Stream source = pipeSource();
        record("client", client);
        Promise<Long> piped = source.pipe(server);
        piped.recover(_ -> 0L);
        server.end();
        awaitEvent("client end");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause({"N-4", "N-5"})
    void idleTimeout_ofAStreamWhoseOutputNeedsAnEnd_resetsUnlessItEnded(boolean ended) {
        connect();
        record("client", client);
        server.resetUnlessEnded();
        server.onData(Buffer::clear);
        server.write("part");
        if (ended) {
            server.end();
        }
        awaitEvent("client part");
        server.idleTimeout(SHORT);
        awaitEvent(ended ? "client end" : "client RESET");
        assertThat(events).doesNotContain(ended ? "client RESET" : "client end");
    }

    // ------------------------------------------------------------------ draining a listener

    @Test
    @Clause({"N-4", "S-1"})
    void drain_ofAListener_letsConnectionsFinish() {
        connect();
        record("client", client);
        server.onData(server::write);
        Promise<DrainReport> drained = listener.drain(LONG);
        assertThat(listener.isOpen()).isFalse();
        client.write("late");
        awaitEvent("client late");
        assertThat(drained.isSettled()).isFalse();
        client.end();
        assertThat(outcome(drained)).isEqualTo(new DrainReport(1, 0));
        awaitEvent("client end");
    }

    @Test
    @Clause({"N-4", "S-2"})
    void drain_pastItsDeadline_resetsWhatIsLeftAndCountsIt() {
        proxy();
        Promise<DrainReport> drained = listener.drain(SHORT);
        DrainReport report = outcome(drained);
        assertThat(report).isEqualTo(new DrainReport(0, 2));
        assertThat(report.isComplete()).isFalse();
        awaitEvent("client RESET");
        awaitEvent("origin RESET");
        assertThat(events).doesNotContain("client end", "origin end");
    }

    @Test
    @Clause("S-1")
    void drain_withoutConnections_isOverAtOnce() {
        listen(ListenerConfig.DEFAULT);
        assertThat(outcome(listener.drain(LONG))).isEqualTo(new DrainReport(0, 0));
    }

    @Test
    @Clause("S-1")
    void drain_calledAgain_bringsTheDeadlineForwardAndNeverPutsItOff() {
        connect();
        record("client", client);
        server.onData(Buffer::clear);
        Promise<DrainReport> drained = listener.drain(LONG);
        assertThat(listener.drain(LONG.multipliedBy(2))).isSameAs(drained);
        assertThat(listener.drain(Duration.ZERO)).isSameAs(drained);
        listener.drain(LONG);
        assertThat(outcome(drained)).isEqualTo(new DrainReport(0, 1));
        awaitEvent("client RESET");
    }
}
