package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// Clauses N-1, N-2 and N-4 as every backend keeps them: bytes both ways, in order and whole, and their ends.
public abstract class StreamContract extends StreamFixture {
    private static final int MANY = 300_000;

    /// Bytes of which each tells where it belongs.
    private static byte[] numbered(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    // ------------------------------------------------------------------ bytes

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
    @Clause("N-1")
    void addresses_areThoseOfBothEnds() {
        connect();
        assertThat(client.peer()).isEqualTo(listener.address());
        assertThat(server.localAddress()).isEqualTo(listener.address());
        assertThat(server.peer()).isEqualTo(client.localAddress());
    }

    @Test
    @Clause("N-2")
    void manyBytes_arriveInOrderAndWhole() {
        connect();
        Buffer got = Buffer.allocate(MANY);
        client.onData(got::put);
        server.onData(server::write);
        client.write(numbered(MANY));
        runUntil("all are back", () -> got.readable() == MANY);
        assertThat(got.getBytes()).isEqualTo(numbered(MANY));
    }

    @Test
    @Clause("N-2")
    void smallWrites_ofOneTurnLeaveAsOne() {
        connect();
        List<Integer> sizes = new ArrayList<>();
        server.onData(
                data -> {
                    sizes.add(data.readable());
                    data.clear();
                });
        for (int i = 0; i < 100; i++) {
            client.write("0123456789");
        }
        runUntil("all there", () -> server.received() == 1000);
        assertThat(sizes).as("what 100 writes of one turn arrive as").containsExactly(1000);
    }

    @Test
    @Clause("N-2")
    void writes_ofAllSorts_keepTheirOrder() {
        connect();
        StringBuilder got = new StringBuilder();
        server.onData(data -> got.append(data.getText(US_ASCII)));
        List<String> returned = new ArrayList<>();
        client.write("a");
        client.write(new byte[] {'b'});
        client.lend(bytes("c"), buffer -> returned.add("c is back"));
        client.write(ByteBuffer.wrap(new byte[] {'d'}));
        client.write(bytes("e"));
        client.lend(bytes("f"), buffer -> returned.add("f is back"));
        runUntil("all there", () -> server.received() == 6);
        assertThat(got).hasToString("abcdef");
        runUntil("both are back", () -> returned.size() == 2);
        assertThat(returned).containsExactly("c is back", "f is back");
    }

    @Test
    @Clause("N-2")
    void lentBuffer_belongsToTheStream_untilItIsReturned() {
        connect();
        Buffer lent = bytes("mine");
        List<Buffer> returned = new ArrayList<>();
        client.lend(lent, returned::add);
        assertThatThrownBy(lent::clear)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Stream[");
        runUntil("it is back", () -> !returned.isEmpty());
        assertThat(returned).containsExactly(lent);
        assertThat(lent.readable()).isZero();
        lent.clear().put((byte) 'x');
    }

    @Test
    @Clause("N-2")
    void flushed_isKept_whenAllBeforeItIsWithTheKernel() {
        connect();
        assertThat(outcome(client.flushed())).isNull();
        server.onData(Buffer::clear);
        client.write(numbered(MANY));
        assertThat(client.pending()).isEqualTo(MANY);
        outcome(client.flushed());
        assertThat(client.pending()).isZero();
        assertThat(client.sent()).isEqualTo(MANY);
    }

    // ------------------------------------------------------------------ what is left unread

    @Test
    @Clause("N-2")
    void bytes_leftUnread_comeAgainInFrontOfTheNext() {
        connect();
        List<String> lines = new ArrayList<>();
        server.onData(
                data -> {
                    for (int end = data.indexOf((byte) '\n');
                            end >= 0;
                            end = data.indexOf((byte) '\n')) {
                        lines.add(data.getText(end + 1, US_ASCII).strip());
                    }
                });
        client.write("one\ntw");
        runUntil("the first", () -> lines.size() == 1);
        client.write("o\nthr");
        runUntil("the second", () -> lines.size() == 2);
        client.write("ee\n");
        runUntil("the third", () -> lines.size() == 3);
        assertThat(lines).containsExactly("one", "two", "three");
    }

    @Test
    @Clause("N-3")
    void bytes_leftUnread_aboveTheLimit_closeTheStream() {
        connect(StreamConfig.DEFAULT.withInputLimit(1000), StreamConfig.DEFAULT);
        server.onData(data -> {});
        client.write(numbered(1001));
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.INPUT_LIMIT);
        assertThat(server.failure()).hasMessageContaining("withInputLimit");
    }

    @Test
    @Clause("N-2")
    void protocol_thatIsReplaced_handsTheRestToTheNext() {
        connect();
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {
                        events.add("first " + data.getText(4, US_ASCII));
                        stream.protocol(
                                (next, rest) -> events.add("second " + rest.getText(US_ASCII)));
                    }
                });
        client.write("1234rest");
        awaitEvent("second rest");
        client.write("more");
        awaitEvent("second more");
        assertThat(events).containsExactly("first 1234", "second rest", "second more");
    }

    @Test
    @Clause({"N-2", "N-4"})
    void protocol_thatTakesOverAfterTheEnd_isToldOfItToo() {
        connect();
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public void onEnd(Stream stream) {
                        events.add("first"); // And answers in its own time.
                        stream.protocol(this); // Which is nothing new to it.
                    }
                });
        client.end();
        awaitEvent("first");
        settle();
        assertThat(events).containsExactly("first");
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public void onEnd(Stream stream) {
                        events.add("second");
                        stream.end();
                    }
                });
        awaitEvent("second");
        awaitClosed(server);
        assertThat(events).containsExactly("first", "second");
    }

    @Test
    @Clause("N-2")
    void protocol_setLate_getsWhatArrivedBefore() {
        connect();
        client.write("early");
        settle();
        record("server", server);
        awaitEvent("server early");
    }

    // ------------------------------------------------------------------ ends

    @Test
    @Clause("N-4")
    void end_ofInput_endsTheOutputBehindWhatWasWritten() {
        connect();
        Buffer got = Buffer.allocate(MANY);
        client.onData(got::put).onClose(reason -> events.add("client " + reason));
        server.onData(server::write).onClose(reason -> events.add("server " + reason));
        client.write(numbered(MANY));
        client.end();
        awaitEvent("client ENDED");
        awaitEvent("server ENDED");
        assertThat(got.getBytes()).isEqualTo(numbered(MANY));
    }

    @Test
    @Clause("N-4")
    void end_ofOutput_leavesTheInputOpen() {
        connect();
        record("server", server);
        record("client", client);
        client.end();
        awaitEvent("server end");
        server.write("still");
        awaitEvent("client still");
        server.write("here");
        awaitEvent("client here");
        server.end();
        awaitEvent("client end");
        awaitEvent("client ENDED");
        awaitEvent("server ENDED");
    }

    @Test
    @Clause("N-4")
    void write_afterEnd_isRefused() {
        connect();
        server.onData(Buffer::clear).onEnd(() -> {});
        client.end();
        client.end();
        assertThatThrownBy(() -> client.write("too late"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after end()");
    }

    @Test
    @Clause("N-4")
    void close_sendsWhatWasWritten_andWaitsForThePeer() {
        connect();
        Buffer got = Buffer.allocate(MANY);
        client.onData(got::put).onClose(reason -> events.add("client " + reason));
        server.onClose(reason -> events.add("server " + reason));
        server.write(numbered(MANY));
        server.close();
        assertThat(server.isOpen()).isFalse();
        assertThat(server.state()).isEqualTo(StreamState.DRAINING);
        awaitEvent("client ENDED");
        awaitEvent("server CLOSED");
        assertThat(got.getBytes()).isEqualTo(numbered(MANY));
    }

    @Test
    @Clause("N-4")
    void close_withInputThatNobodyReads_stillDeliversTheOutput() {
        connect();
        // Input that is unread when a socket is closed makes the kernel reset, which destroys
        // output.
        client.write(numbered(50_000));
        settle();
        Buffer got = Buffer.allocate(100);
        client.onData(got::put).onClose(reason -> events.add("client " + reason));
        server.write("the answer");
        server.close();
        awaitEvent("client ENDED");
        assertThat(got.getText(US_ASCII)).isEqualTo("the answer");
    }

    @Test
    @Clause("N-4")
    void abort_resetsThePeer_andDropsTheOutput() {
        connect();
        record("client", client);
        server.write(numbered(10));
        server.onClose(reason -> events.add("server " + reason));
        server.abort();
        server.abort();
        assertThat(server.closeReason()).isEqualTo(CloseReason.ABORTED);
        awaitEvent("server ABORTED");
        awaitEvent("client RESET");
        assertThat(events).filteredOn(event -> event.startsWith("server")).hasSize(1);
    }

    @Test
    @Clause("N-4")
    void write_afterThePeerIsGone_isDropped() {
        connect();
        server.abort();
        client.onData(Buffer::clear);
        awaitClosed(client);
        assertThat(client.write("nobody there")).isFalse();
        assertThat(client.pending()).isZero();
    }

    // ------------------------------------------------------------------ callbacks

    @Test
    @Clause("N-6")
    void callback_thatThrows_costsItsOwnConnectionOnly() {
        connect();
        Stream first = server;
        Stream other = client;
        server = null;
        client = outcome(Stream.connect(loop, listener.address()));
        runUntil("the second is accepted", () -> server != null);
        first.onData(
                data -> {
                    throw new IllegalStateException("thrown by a test");
                });
        server.onData(server::write);
        record("other", other);
        record("client", client);
        other.write("x");
        client.write("y");
        awaitEvent("client y");
        awaitEvent("other RESET");
        assertThat(first.closeReason()).isEqualTo(CloseReason.HANDLER_FAILED);
        assertThat(first.failure()).hasMessage("thrown by a test");
        assertThat(loop.metrics().failures()).isEqualTo(1);
    }

    @Test
    @Clause("N-4")
    void onClose_calledSeveralTimes_addsCallbacksThatAreCalledInOrder() {
        connect();
        server.onClose(reason -> events.add("first " + reason))
                .onClose(
                        reason -> {
                            events.add("second " + reason);
                            server.onClose(late -> events.add("added " + late));
                        })
                .onClose(reason -> events.add("third " + reason));
        server.abort();
        awaitEvent("added ABORTED");
        assertThat(events)
                .containsExactly(
                        "first ABORTED", "second ABORTED", "third ABORTED", "added ABORTED");
    }

    @Test
    @Clause({"N-4", "N-6"})
    void onClose_whoseCallbacksThrow_stillCallsTheOthers() {
        connect();
        for (String name : List.of("first", "second", "third")) {
            server.onClose(
                    reason -> {
                        events.add(name);
                        throw new IllegalStateException("thrown by a test");
                    });
        }
        server.abort();
        runUntil("the listener let it go", () -> listener.connections() == 0);
        assertThat(events).containsExactly("first", "second", "third");
        assertThat(loop.metrics().failures()).isEqualTo(3);
    }

    @Test
    @Clause("N-4")
    void onClose_ofAClosedStream_isCalledSoonAndNotAtOnce() {
        connect();
        server.onClose(reason -> events.add("closed"));
        server.abort();
        awaitEvent("closed");
        loop.submit(
                () -> {
                    server.onClose(reason -> events.add("late " + reason));
                    events.add("still in the caller");
                });
        awaitEvent("late ABORTED");
        assertThat(events).containsExactly("closed", "still in the caller", "late ABORTED");
    }

    @Test
    @Clause("N-4")
    void reset_ofTheBufferInOnData_leavesTheBytesUnread() {
        connect();
        server.onData(
                data -> {
                    data.mark();
                    String line = data.getText(US_ASCII);
                    events.add(line);
                    if (!line.endsWith("\n")) {
                        data.reset();
                    }
                });
        client.write("half");
        awaitEvent("half");
        client.write(" a line\n");
        awaitEvent("half a line\n");
    }

    @Test
    @Clause("N-4")
    void onClose_isNeverCalledInsideACallOfOnesOwn() {
        connect();
        server.onClose(reason -> events.add("closed"));
        server.onData(
                data -> {
                    data.clear();
                    server.abort();
                    events.add("still in onData");
                });
        client.write("x");
        awaitEvent("closed");
        assertThat(events).containsExactly("still in onData", "closed");
    }

    // ------------------------------------------------------------------ pausing

    @Test
    @Clause("N-3")
    void pause_keepsCallbacksAway_untilResume() {
        connect();
        record("server", server);
        server.pause();
        client.write("waits");
        client.end();
        settle();
        assertThat(events).isEmpty();
        assertThat(server.isPaused()).isTrue();
        server.resume();
        awaitEvent("server end");
        assertThat(events).containsExactly("server waits", "server end");
    }

    @Test
    @Clause("N-3")
    void pause_inTheMiddleOfData_keepsTheRest() {
        connect();
        server.onData(
                data -> {
                    events.add(data.getText(1, US_ASCII));
                    server.pause();
                });
        client.write("abc");
        for (String each : List.of("a", "b", "c")) {
            awaitEvent(each);
            settle();
            assertThat(events.getLast()).isEqualTo(each);
            server.resume();
        }
    }

    @Test
    @Clause("N-3")
    void pauseAndResume_atRandom_loseNothing() {
        connect();
        Buffer got = Buffer.allocate(2 * MANY);
        int[] calls = {0};
        server.onData(
                data -> {
                    calls[0]++;
                    if (calls[0] % 3 == 0) {
                        server.pause();
                        loop.defer(server::resume);
                    } else if (calls[0] % 3 == 1) {
                        server.pause();
                        server.resume();
                    }
                    got.put(data);
                });
        client.write(numbered(MANY));
        runUntil("all are there", () -> got.readable() == MANY);
        assertThat(got.getBytes()).isEqualTo(numbered(MANY));
    }

    // ------------------------------------------------------------------ regressions

    @Test
    @Clause("N-2")
    void buffer_keptPastItsCallback_isRefused() {
        connect();
        List<Buffer> kept = new ArrayList<>();
        server.onData(kept::add);
        client.write("one");
        runUntil("the first", () -> kept.size() == 1);
        client.write("two");
        runUntil("the second", () -> kept.size() == 2);
        for (Buffer each : kept) {
            assertThatThrownBy(each::readable).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @Clause("N-4")
    void end_ofInput_neverOvertakesWhatIsUnread() {
        connect();
        server.onData(
                data -> {
                    events.add(data.getText(1, US_ASCII));
                    server.pause();
                    loop.defer(server::resume);
                });
        server.onEnd(() -> events.add("end"));
        client.write("abc");
        client.end();
        awaitEvent("end");
        assertThat(events).containsExactly("a", "b", "c", "end");
    }

    @Test
    @Clause("N-4")
    void lastLine_withoutAnEnd_isThereAtTheEnd() {
        connect();
        server.onData(data -> {});
        server.onEnd(() -> events.add("rest " + server.unread().getText(US_ASCII)));
        client.write("no newline");
        client.end();
        awaitEvent("rest no newline");
        assertThatThrownBy(server::unread).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("N-2")
    void fileClosedBeforeItsTurn_costsTheStreamOnly() {
        connect();
        record("client", client);
        Descriptor file = pair().getFirst();
        var sending = server.sendFile(file, 0, 100);
        file.close();
        assertThat(failure(sending)).isInstanceOf(StreamClosedException.class);
        assertThat(server.closeReason()).isEqualTo(CloseReason.FAILED);
        awaitClosed(client);
        runUntil("all memory is back", () -> loop.metrics().bufferMemory() == 0);
    }

    @Test
    @Clause("N-2")
    void flushed_ofAClosedStream_isRejected() {
        connect();
        client.write("x");
        client.abort();
        assertThat(failure(client.flushed())).isInstanceOf(StreamClosedException.class);
    }

    @Test
    @Clause("N-3")
    void pipe_intoAStreamThatHasEnded_isBroken_notAFailure() {
        connect();
        Stream source = client;
        Stream from = server;
        server = null;
        Stream sink = outcome(Stream.connect(loop, listener.address()));
        runUntil("the second is accepted", () -> server != null);
        var piped = from.pipe(server);
        server.end();
        source.write("nobody takes this");
        assertThat(failure(piped)).isInstanceOf(StreamClosedException.class);
        assertThat(from.isOpen()).isTrue();
        assertThat(loop.metrics().failures()).isZero();
        assertThat(sink.isOpen()).isTrue();
    }

    @Test
    @Clause({"N-2", "N-4"})
    void pipe_begunWhenTheEndWasToldAlready_passesItOn() {
        connect();
        Stream source = client;
        Stream from = server;
        server = null;
        from.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public void onEnd(Stream stream) {
                        events.add("end"); // While it connects to where this is to go.
                    }
                });
        source.write("all of it");
        source.end();
        awaitEvent("end");
        Stream sink = outcome(Stream.connect(loop, listener.address()));
        runUntil("the second is accepted", () -> server != null);
        record("sink", sink);
        assertThat(outcome(from.pipe(server))).isZero();
        awaitEvent("sink end");
    }
}
