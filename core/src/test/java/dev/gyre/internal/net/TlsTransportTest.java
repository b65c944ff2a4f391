package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.tls.TlsSetup;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;

/// A TLS server over a manually driven transport, with a JDK engine as the client.
class TlsTransportTest {
    private static final int MAX_ROUNDS = 10_000;

    private final EventLoop loop = EventLoop.open();
    private final Streams streams = Streams.on(loop, "test");
    private final SlowTransport below = new SlowTransport();
    private final Listening user = new Listening();
    private final ByteArrayOutputStream toServer = new ByteArrayOutputStream();
    private SSLEngine client;
    private TlsTransport transport;

    private static final class SlowTransport implements Transport {
        @Nullable OutputQueue flushed;
        boolean reads;
        boolean outputEnded;

        @Override
        public boolean isStopped() {
            return false;
        }

        @Override
        public void requestInputBarrier() {}

        @Override
        public void setHandler(Handler user) {}

        @Override
        public void setReading(boolean wanted) {
            reads = wanted;
        }

        @Override
        public void flush(OutputQueue queue) {
            flushed = queue;
        }

        @Override
        public void endOutput() {
            outputEnded = true;
        }

        @Override
        public void close(boolean reset) {}

        /// Removes the first buffer of the queue.
        byte[] carry() {
            OutputQueue queue = flushed;
            NativeBuffer first = queue == null ? null : queue.memory(0);
            if (queue == null || first == null) {
                return new byte[0];
            }
            byte[] bytes = new byte[first.readable()];
            first.asReadable().get(bytes);
            first.advanceReadIndex(bytes.length);
            queue.consumed(bytes.length);
            return bytes;
        }
    }

    private static final class Listening implements Transport.Handler {
        int activities;
        long received;
        @Nullable CloseReason failed;

        @Override
        public void onReceived(NativeBuffer data) {
            received += data.readable();
            data.clear();
        }

        @Override
        public void onActivity() {
            activities++;
        }

        @Override
        public void onInputEnded() {}

        @Override
        public void onSent(long bytes) {}

        @Override
        public void onProgress() {}

        @Override
        public void onOutputEnded() {}

        @Override
        public void onFailed(CloseReason reason, @Nullable Throwable cause) {
            failed = reason;
        }

        @Override
        public void onShutdown() {}

        @Override
        public void onReleased() {}
    }

    @BeforeEach
    void begin() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(null, new TrustManager[] {new Trusting()}, null);
        client = context.createSSLEngine("localhost", 4433);
        client.setUseClientMode(true);
        transport =
                new TlsTransport(
                        streams,
                        below,
                        new OutputQueue(streams.operations().pool()),
                        TlsSetup.of(Tls.selfSigned()).newEngine(null, 0, streams.records()),
                        Duration.ofMinutes(1),
                        loop.deferred());
        transport.setHandler(user);
        transport.start(null);
        transport.setReading(true);
    }

    @AfterEach
    void end() {
        loop.close();
    }

    // ------------------------------------------------------------------ the client

    private void clientSends(byte[] plaintext) throws SSLException {
        ByteBuffer from = ByteBuffer.wrap(plaintext);
        ByteBuffer into = ByteBuffer.allocate(1 << 15);
        do {
            into.clear();
            client.wrap(from, into);
            toServer.write(into.array(), 0, into.position());
        } while (from.hasRemaining());
    }

    private void clientReceives(byte[] records) throws SSLException {
        ByteBuffer from = ByteBuffer.wrap(records);
        ByteBuffer into = ByteBuffer.allocate(1 << 16);
        while (from.hasRemaining()) {
            into.clear();
            SSLEngineResult result = client.unwrap(from, into);
            assertThat(result.getStatus()).isEqualTo(SSLEngineResult.Status.OK);
            runClientTasks();
            if (client.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                clientSends(new byte[0]);
            }
        }
    }

    private void runClientTasks() {
        for (Runnable task = client.getDelegatedTask();
                task != null;
                task = client.getDelegatedTask()) {
            task.run();
        }
    }

    private void deliver() {
        byte[] bytes = toServer.toByteArray();
        toServer.reset();
        int at = 0;
        while (at < bytes.length) {
            int part = Math.min(bytes.length - at, 16 << 10);
            NativeBuffer arrived = streams.operations().pool().acquire(16 << 10);
            arrived.put(bytes, at, part);
            transport.onReceived(arrived);
            assertThat(arrived.readable()).as("unconsumed input").isZero();
            arrived.release();
            at += part;
        }
    }

    private byte[] carry() {
        byte[] carried = below.carry();
        if (carried.length > 0) {
            transport.onSent(carried.length);
        }
        return carried;
    }

    private void talkUntil(BooleanSupplier enough) throws SSLException {
        for (int i = 0; !enough.getAsBoolean(); i++) {
            assertThat(i).as("rounds without progress").isLessThan(MAX_ROUNDS);
            deliver();
            loop.runSome();
            clientReceives(carry());
        }
    }

    private void shakeHands() throws SSLException {
        clientSends(new byte[0]);
        talkUntil(() -> transport.engine.session() != null);
        loop.runSome();
    }

    // ------------------------------------------------------------------ tests

    @Test
    @Clause("X-1")
    void onActivity_duringTheHandshake_tellsOfThePeerAndNotAfterwards() throws SSLException {
        shakeHands();
        assertThat(user.activities).as("activity during the handshake").isPositive();
        int inHandshake = user.activities;

        clientSends(new byte[100]);
        talkUntil(() -> user.received == 100);

        assertThat(user.activities).isEqualTo(inHandshake);
    }

    @Test
    @Clause("X-1")
    void input_heldUntilAnAnswerCouldBeSent_isReadOnWhenItWas() throws SSLException {
        shakeHands();
        OutputQueue queue = new OutputQueue(streams.operations().pool());
        queue.put(new byte[200_000]);
        transport.flush(queue); // A batch is in flight, and the client does not read.

        for (int i = 0; i < 40; i++) {
            client.beginHandshake(); // Requests a key update, which requires a reply.
            clientSends(new byte[0]);
        }
        clientSends(new byte[200_000]);
        deliver();
        assertThat(user.received).as("received before the replies").isZero();
        assertThat(below.reads).as("reading with more than the limit held").isFalse();

        while (user.received < 200_000) {
            assertThat(carry()).as("pending output").isNotEmpty();
        }

        assertThat(below.reads).as("reading again").isTrue();
        transport.close(true);
    }

    @Test
    @Clause("X-1")
    void input_cutByTheEndsOfBuffers_isHeldOnlyUntilTheRestIsThere() throws SSLException {
        shakeHands();
        long idle = usedAfter(this::deliver);
        clientSends(new byte[100_000]);
        byte[] records = toServer.toByteArray();
        toServer.reset();

        toServer.write(records, 0, records.length - 1);
        assertThat(usedAfter(this::deliver)).as("memory held").isGreaterThan(idle);
        assertThat(user.received)
                .as("bytes of all records but the last")
                .isBetween(80_000L, 99_999L);
        toServer.write(records, records.length - 1, 1);

        assertThat(usedAfter(this::deliver)).as("memory of an idle connection").isEqualTo(idle);
        assertThat(user.received).isEqualTo(100_000);
    }

    /// Memory is returned to the pool on the loop thread.
    private long usedAfter(Runnable action) {
        loop.submit(action);
        loop.runSome();
        return streams.operations().pool().used();
    }

    @Test
    @Clause("X-1")
    void failure_ofTheHandshake_isToldWhenThePeerHasTheAlertAndHangsUp() {
        toServer.writeBytes(new byte[] {22, 3, 1, 0, 5, 1, 0, 0, 1, 0}); // A malformed hello.
        deliver();
        for (int i = 0; below.flushed == null; i++) {
            assertThat(i).as("rounds without output").isLessThan(MAX_ROUNDS);
            loop.runSome();
        }
        assertThat(below.outputEnded).as("ended before the alert is sent").isFalse();

        assertThat(carry()).as("an alert").startsWith(21);
        assertThat(below.outputEnded).isTrue();
        assertThat(below.reads).as("reads and discards").isTrue();
        toServer.writeBytes(new byte[100_000]);
        deliver();
        loop.runSome();
        assertThat(user.failed).as("notified before the peer has closed").isNull();

        transport.onInputEnded();
        loop.runSome();

        assertThat(user.failed).isEqualTo(CloseReason.TLS_HANDSHAKE_FAILED);
        assertThat(user.received).isZero();
    }

    @Test
    @Clause("X-1")
    void loopEnding_duringTheHandshake_waitsForNothing() {
        transport.endOutput();
        transport.onShutdown();

        assertThat(user.failed).isEqualTo(CloseReason.LOOP_ENDED);
    }
}
