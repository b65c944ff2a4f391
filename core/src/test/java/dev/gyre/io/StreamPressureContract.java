package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/// Clause N-3 as every backend keeps it: what waits to be sent is bounded, and who writes is told.
public abstract class StreamPressureContract extends StreamFixture {
    /// More than any kernel buffers for a connection of these tests.
    private static final int FLOOD = 64 << 20;

    private static final int RECEIVE_BYTES = 8 << 10;

    private static final StreamConfig SMALL =
            StreamConfig.DEFAULT
                    .withSocket(SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10))
                    .withWaterMarks(10_000, 50_000);

    @Override
    protected LoopConfig config() {
        return super.config().withBufferMemory(4 << 20).withReceiveBuffers(32, RECEIVE_BYTES);
    }

    /// Writes until the stream says no, turn by turn, as the peer does not read.
    private long fill(Stream stream) {
        long written = 0;
        byte[] piece = new byte[4096];
        while (written < FLOOD) {
            written += piece.length;
            if (!stream.write(piece)) {
                settle();
                if (stream.outputState() == OutputState.BACKPRESSURED) {
                    return written;
                }
            } else {
                settle();
            }
        }
        throw new AssertionError("the kernel takes everything");
    }

    @Test
    @Clause("N-3")
    void write_aboveTheHighWaterMark_saysNo_andTellsWhenThereIsRoom() {
        connect(SMALL, SMALL);
        client.onData(Buffer::clear);
        client.pause();
        record("server", server);
        fill(server);
        assertThat(server.pending())
                .as("above the low mark; of the batch that is being sent the kernel has a part")
                .isGreaterThan(10_000);
        assertThat(server.outputState()).isEqualTo(OutputState.BACKPRESSURED);
        assertThat(events).isEmpty();
        client.resume();
        awaitEvent("server writable");
        assertThat(server.pending()).isLessThanOrEqualTo(10_000);
        assertThat(server.write("again")).isTrue();
    }

    @Test
    @Clause("N-3")
    void sent_whileThePeerTakesABatchBitByBit_countsWhatIsOut() {
        connect(SMALL.withOutputLimit(FLOOD), SMALL);
        client.onData(Buffer::clear);
        client.pause();
        int all = 2 << 20;
        server.write(new byte[all]);
        runUntil("the kernel has what it takes of the first batch", () -> server.sent() > 0);
        long before = server.sent();
        assertThat(before).isLessThan(all);
        client.resume();
        long[] last = {before};
        runUntil(
                "all of it is sent",
                () -> {
                    assertThat(server.sent())
                            .as("it never goes back")
                            .isGreaterThanOrEqualTo(last[0]);
                    last[0] = server.sent();
                    assertThat(server.pending()).isEqualTo(all - last[0]);
                    return last[0] == all;
                });
    }

    /// A server that reads one message, pauses, and resumes after others were served, as HTTP does
    /// with pipelined requests.
    @Test
    @Clause("N-3")
    void input_ofAProtocolThatPausesAfterEveryMessage_isHeldToTheInputLimit() {
        int message = 100;
        int limit = 16 << 10;
        connect(StreamConfig.DEFAULT.withInputLimit(limit), StreamConfig.DEFAULT);
        int[] messages = {0};
        server.onData(
                data -> {
                    data.skip(Math.min(message, data.readable()));
                    messages[0]++;
                    server.pause();
                    loop.defer(server::resume);
                });
        long[] most = {0};
        runUntil(
                "a thousand messages were taken",
                () -> {
                    if (client.pending() == 0) {
                        client.write(new byte[limit]);
                    }
                    most[0] = Math.max(most[0], loop.metrics().bufferMemory());
                    return messages[0] == 1_000 || server.closeReason() != null;
                });
        assertThat(server.closeReason()).isNull();
        // What the client is about to send, what may be unread, and what the kernel had handed over
        // when the server paused.
        assertThat(most[0]).isLessThan(2 * limit + limit + 32 * RECEIVE_BYTES + (64 << 10));
    }

    @Test
    @Clause("N-3")
    void stream_underPressure_readsNoMore_untilThereIsRoom() {
        connect(SMALL, SMALL);
        client.onData(Buffer::clear);
        client.pause();
        long[] got = {0};
        server.onData(
                data -> {
                    got[0] += data.readable();
                    server.write(data);
                });
        // An echo to a peer that does not read: it must end by itself, far below the flood.
        byte[] piece = new byte[4096];
        long written = 0;
        for (int i = 0; i < 1000; i++) {
            if (client.pending() < 200_000) {
                client.write(piece);
                written += piece.length;
            }
            settle();
        }
        assertThat(server.isOpen()).isTrue();
        assertThat(server.pending()).isLessThan(200_000);
        assertThat(got[0]).isLessThan(1000L * piece.length);
        assertThat(client.outputState()).isEqualTo(OutputState.BACKPRESSURED);
        long[] back = {0};
        client.onData(
                data -> {
                    back[0] += data.readable();
                    data.clear();
                });
        client.resume();
        long all = client.sent() + client.pending();
        runUntil("all comes back", () -> back[0] == all);
        assertThat(written).isPositive();
    }

    @Test
    @Clause("N-3")
    void write_aboveTheLimit_closesTheStream() {
        connect(SMALL.withOutputLimit(200_000), SMALL);
        record("client", client);
        client.pause();
        for (int i = 0; i < 1000 && server.isOpen(); i++) {
            server.write(new byte[10_000]);
            settle();
        }
        assertThat(server.closeReason()).isEqualTo(CloseReason.OUTPUT_LIMIT);
        client.resume();
        awaitEvent("client RESET");
        runUntil("its memory is back", () -> loop.metrics().bufferMemory() == 0);
    }

    @Test
    @Clause("N-3")
    void sendFile_againAndAgainToAPeerThatDoesNotRead_closesTheStream() {
        int limit = 500_000;
        connect(SMALL.withOutputLimit(limit), SMALL);
        client.onData(Buffer::clear);
        client.pause();
        server.write(new byte[limit / 2]); // Keeps the files from their turn.
        Descriptor file = pair().getFirst();
        List<Promise<Long>> parts = new ArrayList<>();
        while (server.isOpen() && parts.size() < limit) {
            Promise<Long> part = server.sendFile(file, 0, 1);
            part.then(kept -> null, broken -> null); // So that nobody reports it.
            parts.add(part);
        }
        assertThat(server.closeReason())
                .as("after %d parts of files that wait", parts.size())
                .isEqualTo(CloseReason.OUTPUT_LIMIT);
        assertThat(parts).hasSizeBetween(limit / 2 / 256, limit / 256 + 2);
        for (Promise<Long> part : parts) {
            assertThat(failure(part)).isInstanceOf(StreamClosedException.class);
        }
        file.close();
    }

    @Test
    @Clause("N-3")
    void oneHugeWrite_isSentAsThePeerTakesIt() {
        connect(SMALL, SMALL);
        long[] got = {0};
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        server.write(new byte[2_000_000]);
        runUntil("all there", () -> got[0] == 2_000_000);
        assertThat(server.pending()).isZero();
        runUntil("its memory is back", () -> loop.metrics().bufferMemory() == 0);
    }

    @Test
    @Clause("N-3")
    void idleConnection_holdsNoMemory() {
        connect();
        server.onData(server::write);
        long[] got = {0};
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        client.write(new byte[100_000]);
        runUntil("all is back", () -> got[0] == 100_000);
        runUntil("no memory is held", () -> loop.metrics().bufferMemory() == 0);
    }

    @Test
    @Clause("N-3")
    void memoryOfTheLoop_usedUp_costsWhoWantsMore_andNobodyElse() {
        connect(SMALL.withOutputLimit(1 << 30), SMALL);
        Stream greedy = server;
        Stream taker = client;
        server = null;
        client = outcome(Stream.connect(loop, listener.address(), SMALL));
        runUntil("the second is accepted", () -> server != null);
        taker.onData(Buffer::clear);
        taker.pause();
        for (int i = 0; i < 100 && greedy.isOpen(); i++) {
            greedy.write(new byte[100_000]);
        }
        assertThat(greedy.closeReason()).isEqualTo(CloseReason.MEMORY_LIMIT);
        assertThat(greedy.failure()).hasMessageContaining("withBufferMemory");
        server.onData(server::write);
        record("client", client);
        client.write("still served");
        awaitEvent("client still served");
    }

    @Test
    @Clause("N-3")
    void pipe_goesNoFasterThanItsTarget() {
        connect(SMALL, SMALL);
        Stream source = client;
        Stream from = server;
        server = null;
        Stream sink = outcome(Stream.connect(loop, listener.address(), SMALL));
        runUntil("the second is accepted", () -> server != null);
        Stream to = server;
        sink.onData(Buffer::clear);
        sink.pause();
        List<Long> piped = new ArrayList<>();
        from.pipe(to).thenAccept(piped::add);
        for (int i = 0; i < 1000; i++) {
            if (source.pending() < 100_000) {
                source.write(new byte[4096]);
            }
            settle();
        }
        assertThat(source.outputState()).isEqualTo(OutputState.BACKPRESSURED);
        assertThat(to.pending()).isLessThan(200_000);
        long[] got = {0};
        sink.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        sink.resume();
        source.end();
        long all = source.sent() + source.pending();
        runUntil("all is there", () -> got[0] == all);
        runUntil("told", () -> !piped.isEmpty());
        assertThat(piped).containsExactly(all);
    }

    @Test
    @Clause("N-3")
    void onWritable_isCalled_alsoForWhoOnlyWrites() {
        connect(SMALL, SMALL);
        client.onData(Buffer::clear);
        client.pause();
        server.onWritable(() -> events.add("room"));
        fill(server);
        client.resume();
        awaitEvent("room");
    }

    @Test
    @Clause("N-3")
    void write_aboveTheLimitAtOnce_takesNoMemoryFirst() {
        connect(SMALL.withOutputLimit(100_000), SMALL);
        assertThat(server.write(new byte[3 << 20])).isFalse();
        assertThat(server.closeReason()).isEqualTo(CloseReason.OUTPUT_LIMIT);
        assertThat(loop.metrics().bufferMemory()).isZero();
    }
}
