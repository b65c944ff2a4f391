package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;

/// Clause N-7: a stream is always in one named state, and its output in one.
public abstract class StreamStatesContract extends StreamFixture {
    private static final StreamConfig SMALL =
            StreamConfig.DEFAULT.withSocket(SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10));

    private void requireStates(StreamState state, OutputState output) {
        assertThat(server.state()).as("events %s", events).isEqualTo(state);
        assertThat(server.outputState()).isEqualTo(output);
    }

    /// To where the peer does not take what is sent.
    private void backpressure() {
        client.onData(Buffer::clear);
        client.onClose(reason -> events.add("client " + reason));
        client.pause();
        server.write(new byte[8 << 20]);
        settle();
        requireStates(StreamState.WRITING, OutputState.BACKPRESSURED);
    }

    @Test
    @Clause("N-7")
    void accepted_untilTheFirstBytes_thenReading() {
        connect();
        server.onData(Buffer::clear);
        requireStates(StreamState.ACCEPTED, OutputState.IDLE);
        client.write("x");
        runUntil("received", () -> server.received() == 1);
        requireStates(StreamState.READING, OutputState.IDLE);
    }

    @Test
    @Clause("N-7")
    void reading_andSomethingIsWritten_isWriting_untilItIsSent() {
        connect();
        server.onData(Buffer::clear);
        client.write("x");
        runUntil("received", () -> server.received() == 1);
        server.write("y");
        requireStates(StreamState.WRITING, OutputState.PENDING);
        runUntil("sent", () -> server.sent() == 1);
        requireStates(StreamState.READING, OutputState.IDLE);
    }

    @Test
    @Clause("N-7")
    void paused_withNothingToSend_isProcessing() {
        connect();
        server.onData(
                data -> {
                    data.clear();
                    server.pause();
                });
        client.write("x");
        runUntil("received", () -> server.received() == 1);
        requireStates(StreamState.PROCESSING, OutputState.IDLE);
        server.write("answer");
        requireStates(StreamState.WRITING, OutputState.PENDING);
        runUntil("sent", () -> server.pending() == 0);
        requireStates(StreamState.PROCESSING, OutputState.IDLE);
        server.resume();
        requireStates(StreamState.READING, OutputState.IDLE);
    }

    @Test
    @Clause("N-7")
    void output_thatIsNotTaken_isBackpressured_untilThePeerReads() {
        connect(SMALL, SMALL);
        backpressure();
        client.resume();
        runUntil("all is sent", () -> server.pending() == 0);
        requireStates(StreamState.READING, OutputState.IDLE);
    }

    @Test
    @Clause("N-7")
    void writing_andEnded_isDraining_thenClosing() {
        connect();
        client.onData(Buffer::clear);
        server.write("last");
        server.close();
        requireStates(StreamState.DRAINING, OutputState.PENDING);
        awaitClosed(server);
        requireStates(StreamState.CLOSING, OutputState.IDLE);
    }

    // ------------------------------------------------------------------ from every state

    /// Brings the server into a state in which the peer has sent a byte that is not read, wherever reading can be off.
    private void reach(StreamState state) {
        boolean accepts = state == StreamState.ACCEPTED;
        connect(accepts ? StreamConfig.DEFAULT : SMALL, SMALL);
        server.onClose(reason -> events.add("server " + reason));
        if (!accepts) {
            server.protocol(new Recorder());
            client.write("a");
            runUntil("received", () -> server.received() == 1);
        } else {
            server.protocol(new Recorder());
        }
        switch (state) {
            case PROCESSING -> {
                server.pause();
                client.write("b");
            }
            case WRITING -> {
                backpressure();
                client.write("b");
            }
            case DRAINING -> {
                backpressure();
                server.close();
            }
            default -> {}
        }
        settle();
        assertThat(server.state()).isEqualTo(state);
    }

    private final class Recorder implements Protocol {
        @Override
        public void onData(Stream stream, Buffer data) {
            events.add("data " + data.getText(US_ASCII));
        }

        @Override
        public void onEnd(Stream stream) {
            events.add("end");
            stream.end();
        }

        @Override
        public void onEndPending(Stream stream) {
            events.add("end pending");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLOSING")
    @Clause({"N-7", "N-8"})
    void anyState_andThePeerResets_isClosing(StreamState state) {
        reach(state);
        client.abort();
        awaitClosed(server);
        assertThat(server.state()).isEqualTo(StreamState.CLOSING);
        assertThat(server.closeReason()).isEqualTo(CloseReason.RESET);
        awaitEvent("server RESET");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLOSING")
    @Clause({"N-7", "N-8", "N-4"})
    void anyState_andThePeerEnds_isClosing_whenAllIsReadAndSent(StreamState state) {
        reach(state);
        client.onData(Buffer::clear);
        client.end();
        if (state == StreamState.PROCESSING || state == StreamState.WRITING) {
            awaitEvent("end pending");
            assertThat(server.state()).as("what is unread can be read").isEqualTo(state);
            assertThat(events).doesNotContain("end");
            server.resume();
        }
        client.resume();
        awaitClosed(server);
        boolean closed = state == StreamState.DRAINING;
        awaitEvent(closed ? "server CLOSED" : "server ENDED");
        if (state == StreamState.PROCESSING || state == StreamState.WRITING) {
            assertThat(events)
                    .containsSubsequence("data a", "end pending", "data b", "end", "server ENDED");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLOSING")
    @Clause({"N-7", "N-5"})
    void anyState_andTimeRunsOut_isClosing(StreamState state) {
        reach(state);
        Duration timeout = Duration.ofMillis(20);
        CloseReason reason =
                switch (state) {
                    case WRITING, DRAINING -> {
                        server.writeTimeout(timeout);
                        yield CloseReason.WRITE_TIMEOUT;
                    }
                    default -> {
                        server.idleTimeout(timeout);
                        yield CloseReason.IDLE_TIMEOUT;
                    }
                };
        awaitClosed(server);
        assertThat(server.state()).isEqualTo(StreamState.CLOSING);
        assertThat(server.closeReason()).isEqualTo(reason);
    }

    // ------------------------------------------------------------------ noticed without reading

    @Test
    @Clause("N-8")
    void nobodyReads_andThePeerResets_isNoticed() {
        connect();
        client.abort();
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.RESET);
    }

    @Test
    @Clause("N-8")
    void paused_andThePeerEndsAndThenResets_bothAreNoticed() {
        reach(StreamState.PROCESSING);
        client.end();
        awaitEvent("end pending");
        client.abort();
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.RESET);
    }

    @Test
    @Clause({"N-8", "O-4"})
    void paused_andThePeerEnds_letsTheLoopSleep() {
        reach(StreamState.PROCESSING);
        client.end();
        awaitEvent("end pending");
        settle();
        long before = loop.metrics().operationsCompleted();
        settle();
        settle();
        assertThat(loop.metrics().operationsCompleted())
                .as("completions while nothing happens")
                .isEqualTo(before);
    }

    @Test
    @Clause("N-8")
    void inputEnded_andThePeerResets_isNoticedWithoutWriting() {
        connect();
        server.onData(Buffer::clear).onEnd(() -> events.add("end"));
        client.end();
        awaitEvent("end");
        settle();
        client.abort();
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.RESET);
    }

    @Test
    @Clause("N-8")
    void pausedAndResumedAgainAndAgain_thePeersEndIsToldOnce() {
        connect();
        server.protocol(new Recorder());
        for (int i = 0; i < 3; i++) {
            server.pause();
            settle();
            server.resume();
            settle();
        }
        server.pause();
        client.write("last");
        client.end();
        awaitEvent("end pending");
        server.resume();
        awaitEvent("end");
        assertThat(events).containsExactly("end pending", "data last", "end");
    }

    @Test
    @Clause({"N-8", "L-8"})
    void watchForThePeersEnd_keepsNoLoopAlive() {
        connect();
        server.onData(Buffer::clear);
        client.onData(Buffer::clear);
        server.pause();
        client.pause();
        listener.close();
        loop.runUntilEmpty();
        assertThat(server.isOpen()).isTrue();
    }
}
