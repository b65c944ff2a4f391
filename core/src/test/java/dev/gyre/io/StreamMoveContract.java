package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Outcome;
import dev.gyre.Promise;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/// Clause G-4 on one thread that runs two loops in turn.
public abstract class StreamMoveContract extends StreamFixture {
    private static final int MANY = 3_000_000;

    /// Small buffers in the kernel, so that output is pending.
    protected static final StreamConfig SMALL =
            StreamConfig.DEFAULT.withSocket(SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10));

    @TempDir Path directory;

    /// The loop that streams move to.
    protected EventLoop other;

    @BeforeEach
    void openOther() {
        other = open(config().withName("other"));
    }

    @AfterEach
    void closeOther() {
        other.close();
    }

    /// The configuration of both ends; a subclass adds TLS.
    protected StreamConfig serverSide() throws IOException {
        return SMALL;
    }

    protected StreamConfig clientSide() throws IOException {
        return SMALL;
    }

    /// Whether files of the real system can be sent.
    protected boolean hasRealFiles() {
        return true;
    }

    protected void connectBoth() throws IOException {
        connect(serverSide(), clientSide());
    }

    private void tick(EventLoop which) {
        if (which.state() != dev.gyre.LoopState.TERMINATED) {
            which.defer(() -> {}); // Prevents a wait.
            which.runSome();
        }
    }

    protected void runBothUntil(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
            tick(loop);
            tick(other);
        }
        assertThat(condition.getAsBoolean()).as("%s; events: %s", what, events).isTrue();
    }

    private void move(Stream stream, EventLoop to) {
        AtomicInteger moved = new AtomicInteger();
        stream.moveTo(
                to,
                same -> {
                    assertThat(same).isSameAs(stream);
                    assertThat(to.isLoopThread()).isTrue();
                    moved.incrementAndGet();
                });
        runBothUntil("moved", () -> moved.get() == 1);
        assertThat(stream.loop()).isSameAs(to);
    }

    private String loopOfThread() {
        return other.isLoopThread() ? "other" : loop.isLoopThread() ? "loop" : "none";
    }

    /// Records events with the loop that they run on.
    private void recordLoops(String name, Stream stream) {
        stream.onData(data -> happened(name + " " + data.getText(US_ASCII)))
                .onEnd(() -> happened(name + " end"))
                .onWritable(() -> happened(name + " writable"))
                .onClose(reason -> happened(name + " " + reason));
    }

    private void happened(String event) {
        events.add(event + " on " + loopOfThread());
    }

    private void awaitBoth(String event) {
        runBothUntil("'" + event + "'", () -> events.contains(event));
    }

    private static byte[] numbered(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    // ------------------------------------------------------------------ bytes

    @Test
    @Clause("G-4")
    void moveTo_idleStream_continuesOnTheTarget() throws IOException {
        connectBoth();
        recordLoops("client", client);
        server.onData(
                data -> {
                    happened("server");
                    server.write(data);
                });
        move(server, other);

        client.write("hello");
        awaitBoth("client hello on loop");
        assertThat(events).containsExactly("server on other", "client hello on loop");
        assertThat(server.received()).isEqualTo(5);
        runBothUntil("sent", () -> server.sent() == 5);
    }

    @Test
    @Clause("G-4")
    void moveTo_countsTheStreamOnItsLoop() throws IOException {
        connectBoth();
        move(server, other);
        assertThat(loop.metrics().streams()).isEqualTo(1);
        assertThat(other.metrics().streams()).isEqualTo(1);
        assertThat(loop.metrics().streamsMovedOut()).isEqualTo(1);
        assertThat(other.metrics().streamsMovedIn()).isEqualTo(1);
        server.onClose(reason -> events.add("" + reason));
        client.abort();
        runBothUntil("closed", () -> !events.isEmpty());
        assertThat(other.metrics().streams()).isZero();
        assertThat(other.metrics().streamsClosed(CloseReason.RESET)).isEqualTo(1);
    }

    @Test
    @Clause("G-4")
    void moveTo_inTheMiddleOfInput_deliversTheRestOnTheTarget() throws IOException {
        connectBoth();
        server.onData(
                data -> {
                    happened(data.getText(3, US_ASCII));
                    if (!other.isLoopThread()) {
                        server.moveTo(other);
                    }
                });
        client.write("onetwo");
        awaitBoth("two on other");
        client.write("sixten");
        awaitBoth("six on other");
        assertThat(events).containsExactly("one on loop", "two on other", "six on other");
    }

    @Test
    @Clause("G-4")
    void moveTo_withInputInFlight_losesNothing() throws IOException {
        connectBoth();
        byte[] all = numbered(MANY);
        Buffer got = Buffer.allocate(MANY);
        int[] moves = {0};
        server.onData(
                data -> {
                    got.put(data);
                    if (moves[0]++ % 3 == 0) {
                        server.moveTo(other.isLoopThread() ? loop : other);
                    }
                });
        client.write(Arrays.copyOf(all, MANY));
        runBothUntil("all", () -> got.readable() == MANY);
        assertThat(got.getBytes()).isEqualTo(all);
        assertThat(moves[0]).isGreaterThan(3);
    }

    @Test
    @Clause("G-4")
    void moveTo_withPendingOutput_sendsItInOrder() throws IOException {
        connectBoth();
        byte[] all = numbered(MANY);
        server.onData(Buffer::clear);
        client.onData(Buffer::clear);
        client.pause();
        server.write(Arrays.copyOf(all, MANY / 3));
        for (int i = 0; i < 20; i++) {
            settle(); // The kernel's buffers fill.
        }
        server.write(Arrays.copyOfRange(all, MANY / 3, MANY / 2));
        assertThat(server.pending()).isPositive();
        move(server, other);
        assertThat(server.pending()).isPositive();
        server.write(Arrays.copyOfRange(all, MANY / 2, MANY));

        Buffer got = Buffer.allocate(MANY);
        client.onData(got::put);
        client.resume();
        runBothUntil("all", () -> got.readable() == MANY);
        assertThat(got.getBytes()).isEqualTo(all);
        runBothUntil("sent", () -> server.pending() == 0);
        assertThat(server.sent()).isEqualTo(MANY);
    }

    @Test
    @Clause("G-4")
    void moveTo_pausedStream_staysPausedWithItsInput() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.pause();
        client.write("early");
        for (int i = 0; i < 20; i++) {
            settle();
        }
        move(server, other);
        for (int i = 0; i < 20; i++) {
            tick(other);
        }
        assertThat(server.isPaused()).isTrue();
        assertThat(events).isEmpty();
        server.resume();
        awaitBoth("server early on other");
    }

    @Test
    @Clause("G-4")
    void moveTo_withoutReader_keepsInputForTheReaderOnTheTarget() throws IOException {
        connectBoth();
        client.write("first");
        Promise<Buffer> one = server.read();
        runBothUntil("read", one::isSettled);
        Buffer view = ((Outcome.Resolved<Buffer>) one.outcome()).value();
        assertThat(view.getText(2, US_ASCII)).isEqualTo("fi");
        move(server, other);
        assertThatThrownBy(view::readable).isInstanceOf(IllegalStateException.class);
        Promise<Buffer> rest = server.read(3);
        runBothUntil("read", rest::isSettled);
        assertThat(((Outcome.Resolved<Buffer>) rest.outcome()).value().getText(US_ASCII))
                .isEqualTo("rst");
    }

    @Test
    @Clause("G-4")
    void moveTo_underBackpressure_reportsWritableOnTheTarget() throws IOException {
        connect(serverSide().withWaterMarks(1_000, 10_000), clientSide());
        recordLoops("server", server);
        client.onData(Buffer::clear);
        client.pause();
        int written = 0;
        while (server.write(new byte[50_000]) || server.pending() < 1_000_000) {
            written += 50_000;
            tick(loop);
            assertThat(written).isLessThan(15_000_000);
        }
        events.clear();
        move(server, other);
        client.resume();
        awaitBoth("server writable on other");
        assertThat(events).containsExactly("server writable on other");
    }

    @Test
    @Clause("G-4")
    void moveTo_thereAndBack_isTheSameStream() throws IOException {
        connectBoth();
        recordLoops("server", server);
        move(server, other);
        move(server, loop);
        client.write("x");
        awaitBoth("server x on loop");
        server.moveTo(other, stream -> stream.moveTo(loop, same -> happened("back")));
        awaitBoth("back on loop");
        client.write("y");
        awaitBoth("server y on loop");
    }

    // ------------------------------------------------------------------ ends

    @Test
    @Clause("G-4")
    void moveTo_afterEnd_stillReads() throws IOException {
        connectBoth();
        recordLoops("client", client);
        recordLoops("server", server);
        server.write("last");
        server.end();
        move(server, other);
        awaitBoth("client end on loop");
        client.write("reply");
        client.end();
        awaitBoth("server ENDED on other");
        assertThat(events)
                .containsSubsequence("client last on loop", "client end on loop")
                .containsSubsequence(
                        "server reply on other", "server end on other", "server ENDED on other");
    }

    @Test
    @Clause("G-4")
    void moveTo_afterThePeersEnd_stillWrites() throws IOException {
        connectBoth();
        recordLoops("client", client);
        recordLoops("server", server);
        client.end();
        awaitBoth("server end on loop");
        move(server, other);
        server.write("late");
        server.end();
        awaitBoth("client late on loop");
        awaitBoth("server ENDED on other");
    }

    @Test
    @Clause("G-4")
    void moveTo_withThePeersEndInFlight_deliversItOnTheTarget() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.pause();
        client.write("last");
        client.end();
        for (int i = 0; i < 30; i++) {
            settle();
        }
        move(server, other);
        server.resume();
        awaitBoth("server end on other");
        assertThat(events).containsExactly("server last on other", "server end on other");
    }

    @Test
    @Clause("G-4")
    void moveTo_thenPeerResets_closesOnce() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.moveTo(other);
        client.abort();
        runBothUntil("closed", () -> !events.isEmpty());
        for (int i = 0; i < 20; i++) {
            tick(loop);
            tick(other);
        }
        assertThat(events).hasSize(1);
        assertThat(events.getFirst()).startsWith("server RESET");
        assertThat(loop.metrics().streams() + other.metrics().streams()).isZero();
    }

    @Test
    @Clause("G-4")
    void moveTo_whileTimeoutsRun_expiresOnTheTarget() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.idleTimeout(Duration.ofMillis(50));
        move(server, other);
        awaitBoth("server IDLE_TIMEOUT on other");
    }

    // ------------------------------------------------------------------ promises and loans

    @Test
    @Clause("G-4")
    void flushed_beforeAMove_resolvesOnItsLoop() throws IOException {
        connectBoth();
        client.onData(Buffer::clear);
        client.pause();
        server.write(new byte[MANY]);
        Promise<Object> flushed =
                server.flushed()
                        .then(
                                _ -> {
                                    happened("flushed");
                                    return "";
                                });
        for (int i = 0; i < 5; i++) {
            settle();
        }
        move(server, other);
        assertThat(flushed.isSettled()).isFalse();
        client.resume();
        awaitBoth("flushed on loop");
    }

    @Test
    @Clause("G-4")
    void inputDelivered_beforeAMove_isRejected() throws IOException {
        connectBoth();
        Promise<?> delivered = server.inputDelivered(); // Without a reader it waits.
        move(server, other);
        assertThat(failure(delivered)).hasMessageContaining("call inputDelivered() there");
    }

    @Test
    @Clause("G-4")
    void sendFile_beforeAMove_sendsAllAndResolvesOnItsLoop() throws IOException {
        assumeTrue(hasRealFiles(), "this kernel has files of its own");
        Path file = directory.resolve("file");
        byte[] all = numbered(MANY);
        Files.write(file, all);
        connectBoth();
        Buffer got = Buffer.allocate(MANY);
        client.onData(Buffer::clear);
        client.pause();
        try (Descriptor opened = Descriptor.open(file, StandardOpenOption.READ)) {
            Promise<Object> sent =
                    server.sendFile(opened, 0, MANY)
                            .then(
                                    bytes -> {
                                        happened("sent " + bytes);
                                        return "";
                                    });
            for (int i = 0; i < 5; i++) {
                settle();
            }
            move(server, other);
            client.onData(got::put);
            client.resume();
            runBothUntil("sent", sent::isSettled);
        }
        runBothUntil("all", () -> got.readable() == MANY);
        assertThat(got.getBytes()).isEqualTo(all);
        assertThat(events).containsExactly("sent " + MANY + " on loop");
    }

    @Test
    @Clause("G-4")
    void lend_beforeAMove_isReturnedOnItsLoopAndSent() throws IOException {
        connectBoth();
        byte[] all = numbered(MANY);
        Buffer got = Buffer.allocate(MANY);
        client.onData(Buffer::clear);
        client.pause();
        server.lend(Buffer.allocate(MANY).put(all), _ -> happened("returned"));
        for (int i = 0; i < 5; i++) {
            settle();
        }
        move(server, other);
        assertThat(events).containsExactly("returned on loop");
        client.onData(got::put);
        client.resume();
        runBothUntil("all", () -> got.readable() == MANY);
        assertThat(got.getBytes()).isEqualTo(all);
    }

    // ------------------------------------------------------------------ errors

    @Test
    @Clause("G-4")
    void anyCall_whileMoving_throwsAndNamesBothLoops() throws IOException {
        connectBoth();
        server.moveTo(other);
        for (Runnable call :
                new Runnable[] {
                    () -> server.write("x"),
                    () -> server.close(),
                    () -> server.onClose(_ -> {}),
                    () -> server.moveTo(other),
                    () -> client.pipe(server),
                    () -> client.join(server)
                }) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("loop " + loop.config().name())
                    .hasMessageContaining("loop other");
        }
        runBothUntil("moved", () -> server.loop() == other);
        server.write("x");
    }

    @Test
    @Clause("G-4")
    void moveTo_ownLoop_onlyCallsBack() throws IOException {
        connectBoth();
        server.moveTo(loop, same -> events.add("moved " + (same == server)));
        assertThat(events).isEmpty();
        server.write("still usable");
        awaitBoth("moved true");
        assertThat(loop.metrics().streamsMovedOut()).isZero();
    }

    @Test
    @Clause("G-4")
    void moveTo_closedOrClosingStream_throws() throws IOException {
        connectBoth();
        server.close();
        assertThatThrownBy(() -> server.moveTo(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closing");
        client.abort();
        assertThatThrownBy(() -> client.moveTo(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed: ABORTED");
    }

    @Test
    @Clause("G-4")
    void moveTo_terminatedLoop_throwsAndTheStreamStays() throws IOException {
        connectBoth();
        recordLoops("client", client);
        other.close();
        assertThatThrownBy(() -> server.moveTo(other))
                .isInstanceOf(LoopTerminatedException.class)
                .hasMessageContaining("other");
        server.write("here");
        awaitEvent("client here on loop");
    }

    @Test
    @Clause("G-4")
    void moveTo_badInput_throws() throws IOException {
        connectBoth();
        assertThatThrownBy(() -> server.moveTo(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> server.moveTo(other, null))
                .isInstanceOf(NullPointerException.class);
        Promise<Buffer> read = server.read();
        assertThatThrownBy(() -> server.moveTo(other)).hasMessageContaining("read() is pending");
        client.write("x");
        assertThat(outcome(read).getText(US_ASCII)).isEqualTo("x");
        client.onData(
                _ -> {
                    throw new AssertionError("none expected");
                });
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public boolean beforeMove(Stream stream, EventLoop target) {
                        return false;
                    }

                    @Override
                    public String toString() {
                        return "Stubborn";
                    }
                });
        assertThatThrownBy(() -> server.moveTo(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Stubborn does not allow it now");
    }

    @Test
    @Clause("G-4")
    void moveTo_pipedStream_throws() throws IOException {
        connectBoth();
        server.pipe(server);
        assertThatThrownBy(() -> server.moveTo(other)).hasMessageContaining("pipe");
    }

    @Test
    @Clause("G-4")
    void moved_thatThrows_closesTheStreamOnly() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.moveTo(
                other,
                _ -> {
                    throw new IllegalStateException("provoked");
                });
        awaitBoth("server HANDLER_FAILED on other");
        assertThat(server.failure()).hasMessage("provoked");
    }

    @Test
    @Clause("G-4")
    void protocol_moved_isNotifiedBeforeInput() throws IOException {
        connectBoth();
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {
                        happened("data " + data.getText(US_ASCII));
                    }

                    @Override
                    public void onMoved(Stream stream) {
                        happened("protocol");
                    }
                });
        server.pause();
        client.write("x");
        settle();
        server.resume();
        server.moveTo(other, _ -> happened("moved"));
        awaitBoth("data x on other");
        assertThat(events)
                .containsExactly("protocol on other", "moved on other", "data x on other");
    }

    // ------------------------------------------------------------------ shutdown

    @Test
    @Clause("G-4")
    void target_closedBeforeTheHandOver_closesTheStreamOnItsLoop() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.moveTo(other, _ -> events.add("moved"));
        other.close();
        awaitEvent("server LOOP_ENDED on loop");
        assertThat(events).containsExactly("server LOOP_ENDED on loop");
        assertThat(server.failure()).isInstanceOf(LoopTerminatedException.class);
        assertThat(loop.metrics().streamsClosed(CloseReason.LOOP_ENDED)).isEqualTo(1);
        assertThat(loop.metrics().streams()).isEqualTo(1);
    }

    @Test
    @Clause("G-4")
    void target_closedAfterTheHandOver_closesTheStream() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.moveTo(other, _ -> events.add("moved"));
        runUntil("handed over", () -> loop.metrics().streamsMovedOut() == 1);
        other.close();
        assertThat(events).containsExactly("server LOOP_ENDED on none");
        assertThat(other.metrics().streamsClosed(CloseReason.LOOP_ENDED)).isEqualTo(1);
        assertThat(other.metrics().streams()).isZero();
        recordLoops("client", client);
        runUntil("the peer sees it", () -> events.size() > 1);
    }

    @Test
    @Clause("G-4")
    void oldLoop_closedDuringTheMove_closesTheStreamOnce() throws IOException {
        connectBoth();
        recordLoops("server", server);
        server.moveTo(other, _ -> events.add("moved"));
        loop.close();
        for (int i = 0; i < 10; i++) {
            tick(other);
        }
        assertThat(events).containsExactly("server LOOP_ENDED on none");
        assertThat(other.metrics().streams()).isZero();
    }

    @Test
    @Clause("G-4")
    void oldLoop_closedAfterTheMove_leavesTheStream() throws IOException {
        connectBoth();
        recordLoops("server", server);
        recordLoops("client", client);
        move(server, other);
        move(client, other);
        loop.close();
        server.write("alive");
        awaitBoth("client alive on other");
        client.abort();
        runBothUntil("closed", () -> server.closeReason() != null);
    }

    // ------------------------------------------------------------------ listeners

    @Test
    @Clause("G-4")
    void listener_withMovedStreams_countsAndDrainsThem() throws IOException {
        connectBoth();
        recordLoops("server", server);
        move(server, other);
        assertThat(listener.connections()).isEqualTo(1);
        Promise<DrainReport> drained = listener.drain(Duration.ofMillis(20));
        runBothUntil("drained", drained::isSettled);
        assertThat(outcome(drained)).isEqualTo(new DrainReport(0, 1));
        assertThat(events).containsExactly("server ABORTED on other");
        assertThat(listener.connections()).isZero();
    }
}
