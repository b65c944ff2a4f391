package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.tls.TlsEngine.Next;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntUnaryOperator;

/// One end of a connection in memory: an engine, its input and its output.
final class TlsEnd {
    final TlsEngine engine;
    final ByteArrayOutputStream received = new ByteArrayOutputStream();
    final Deque<ByteBuffer> toSend = new ArrayDeque<>();

    /// Maps the available bytes to how many arrive at once.
    IntUnaryOperator arrival = all -> all;

    /// Maps the available bytes to how many form the held part.
    IntUnaryOperator heldBack = all -> 0;

    int plaintextRoom = 1 << 15;

    /// How often the engine required delegated tasks.
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

    void arrive(byte[] bytes) {
        inbox.put(bytes);
    }

    /// Sends, receives and runs tasks once.
    ///
    /// @return whether there was progress
    boolean turn() {
        boolean did = send();
        did |= receive();
        Runnable tasks = engine.tasks();
        if (tasks != null) {
            tasksRun++;
            assertThat(engine.tasks()).as("tasks are returned once").isNull();
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

    /// Runs both ends until neither makes progress.
    static void talk(TlsEnd one, TlsEnd other) {
        boolean again = true;
        for (int turns = 0; again; turns++) {
            assertThat(turns).as("rounds").isLessThan(500_000);
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
