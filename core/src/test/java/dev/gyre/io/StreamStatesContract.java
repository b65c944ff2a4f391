package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// Clause N-7: a stream is always in one named state, and its output in one.
public abstract class StreamStatesContract extends StreamFixture {
    private static final StreamConfig SMALL =
            StreamConfig.DEFAULT.withSocket(SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10));

    private void requireStates(StreamState state, OutputState output) {
        assertThat(server.state()).isEqualTo(state);
        assertThat(server.output()).isEqualTo(output);
    }

    /// To where the peer does not take what is sent.
    private void backpressure() {
        client.onData(Buffer::clear);
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

    @Test
    @Clause("N-7")
    void backpressured_andTimeRunsOut_isClosing() {
        connect(SMALL.withWriteTimeout(Duration.ofMillis(30)), SMALL);
        backpressure();
        awaitClosed(server);
        assertThat(server.state()).isEqualTo(StreamState.CLOSING);
        assertThat(server.closeReason()).isEqualTo(CloseReason.WRITE_TIMEOUT);
    }

    @Test
    @Clause("N-7")
    void backpressured_andThePeerResets_isClosing() {
        connect(SMALL, SMALL);
        backpressure();
        client.abort();
        awaitClosed(server);
        assertThat(server.state()).isEqualTo(StreamState.CLOSING);
        assertThat(server.closeReason()).isEqualTo(CloseReason.RESET);
    }

    @Test
    @Clause("N-7")
    void anyState_andTimeRunsOut_isClosing() {
        for (StreamState state :
                new StreamState[] {
                    StreamState.ACCEPTED, StreamState.READING, StreamState.PROCESSING
                }) {
            server = null;
            connect();
            reach(state);
            server.idleTimeout(Duration.ofMillis(20));
            awaitClosed(server);
            assertThat(server.state()).isEqualTo(StreamState.CLOSING);
            assertThat(server.closeReason())
                    .as("from %s", state)
                    .isEqualTo(CloseReason.IDLE_TIMEOUT);
            listener.close();
        }
    }

    @Test
    @Clause("N-7")
    void anyState_andThePeerResets_isClosing() {
        for (StreamState state : new StreamState[] {StreamState.ACCEPTED, StreamState.READING}) {
            server = null;
            connect();
            reach(state);
            client.abort();
            awaitClosed(server);
            assertThat(server.closeReason()).as("from %s", state).isEqualTo(CloseReason.RESET);
            listener.close();
        }
    }

    @Test
    @Clause("N-7")
    void anyState_andThePeerEnds_isClosing_whenOutputIsSent() {
        for (StreamState state : new StreamState[] {StreamState.ACCEPTED, StreamState.READING}) {
            server = null;
            connect();
            client.onData(Buffer::clear);
            reach(state);
            client.end();
            awaitClosed(server);
            assertThat(server.closeReason()).as("from %s", state).isEqualTo(CloseReason.ENDED);
            listener.close();
        }
    }

    private void reach(StreamState state) {
        server.onData(Buffer::clear);
        if (state != StreamState.ACCEPTED) {
            client.write("x");
            runUntil("received", () -> server.received() == 1);
        }
        if (state == StreamState.PROCESSING) {
            server.pause();
        }
        assertThat(server.state()).isEqualTo(state);
    }
}
