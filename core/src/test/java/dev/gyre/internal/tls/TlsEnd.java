package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.tls.TlsEngine.Next;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntUnaryOperator;

/// One end of a connection in memory: an engine, what has arrived for it and what it has sent.
final class TlsEnd {
    final TlsEngine engine;
    final ByteArrayOutputStream received = new ByteArrayOutputStream();
    final Deque<ByteBuffer> toSend = new ArrayDeque<>();

    /// How many bytes arrive at once, of so many that could.
    IntUnaryOperator arrival = all -> all;

    /// How many of so many bytes had to wait for the rest, and are a piece of their own.
    IntUnaryOperator heldBack = all -> 0;

    int plaintextRoom = 1 << 15;

    /// Whether the tasks of the handshake were asked to be run at all.
    int tasksRun;

    private final ByteBuffer inbox = ByteBuffer.allocateDirect(1 << 18);
    private final ByteBuffer plaintext = ByteBuffer.allocateDirect(plaintextRoom);
    private final ByteBuffer out = ByteBuffer.allocateDirect(1 << 16);
    private final ByteArrayOutputStream outbox = new ByteArrayOutputStream();

    TlsEnd(TlsEngine engine) {
        this.engine = engine;
    }

    void write(String text) {
        toSend.add(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    String text() {
        return received.toString(StandardCharsets.UTF_8);
    }

    byte[] takeOutput() {
        byte[] sent = outbox.toByteArray();
        outbox.reset();
        return sent;
    }

    /// Bytes arrive.
    void arrive(byte[] bytes) {
        inbox.put(bytes);
    }

    /// Sends and receives until something else has to happen.
    ///
    /// @return whether anything was done
    boolean turn() {
        boolean did = send();
        did |= receive();
        Runnable tasks = engine.tasks();
        if (tasks != null) {
            tasksRun++;
            assertThat(engine.tasks()).as("tasks are handed out once").isNull();
            assertThat(
                            engine.receive(
                                    Ciphertext.of(ByteBuffer.allocate(0)), ByteBuffer.allocate(0)))
                    .isIn(Next.TASKS, Next.FAILURE);
            tasks.run();
            engine.tasksDone();
            did = true;
        }
        return did;
    }

    private boolean send() {
        out.clear().limit(TlsEngine.MAX_RECORD_BYTES + 100);
        ByteBuffer[] plaintext = toSend.toArray(ByteBuffer[]::new);
        engine.send(plaintext, 0, plaintext.length, out);
        toSend.removeIf(buffer -> !buffer.hasRemaining());
        out.flip();
        byte[] bytes = new byte[out.remaining()];
        out.get(bytes);
        outbox.writeBytes(bytes);
        return bytes.length > 0;
    }

    boolean receive() {
        plaintext.clear().limit(plaintextRoom);
        inbox.flip();
        int before = inbox.remaining();
        int held = Math.clamp(heldBack.applyAsInt(before), 0, before);
        Ciphertext arrived = new Ciphertext(inbox.slice(0, held), inbox.slice(held, before - held));
        engine.receive(arrived, plaintext);
        boolean did = arrived.remaining() < before;
        inbox.position(before - arrived.remaining());
        inbox.compact();
        plaintext.flip();
        byte[] bytes = new byte[plaintext.remaining()];
        plaintext.get(bytes);
        received.writeBytes(bytes);
        return did;
    }

    /// Lets both talk until neither has anything to say.
    static void talk(TlsEnd one, TlsEnd other) {
        boolean again = true;
        for (int turns = 0; again; turns++) {
            assertThat(turns).as("turns: do they talk for ever?").isLessThan(500_000);
            again = one.turn();
            again |= other.turn();
            again |= carry(one, other);
            again |= carry(other, one);
        }
    }

    private static boolean carry(TlsEnd from, TlsEnd to) {
        byte[] sent = from.takeOutput();
        int at = 0;
        while (at < sent.length) {
            int bytes = Math.clamp(to.arrival.applyAsInt(sent.length - at), 1, sent.length - at);
            to.inbox.put(sent, at, bytes);
            to.receive();
            at += bytes;
        }
        return sent.length > 0;
    }
}
