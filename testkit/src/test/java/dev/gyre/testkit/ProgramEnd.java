package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.io.Buffer;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A descriptor of a random program, its operations in flight and their results. The sent bytes are
/// known exactly, because each write reports its count.
final class ProgramEnd {
    private static final byte SCRIBBLE = 0x5a;
    private static final int MAX_PENDING = 8;

    private final RandomProgram program;
    final String name;
    final Descriptor descriptor;
    final ByteArrayOutputStream received = new ByteArrayOutputStream();
    final ByteArrayOutputStream sent = new ByteArrayOutputStream();

    /// Writes in flight, in order.
    final List<byte[]> writing = new ArrayList<>();

    final List<Operation> pending = new ArrayList<>();
    private final List<Buffer> free = new ArrayList<>();
    boolean canRead = true;
    boolean canWrite = true;
    boolean ended;
    boolean failed;
    private boolean receiving;
    private boolean draining;

    ProgramEnd(RandomProgram program, String name, Descriptor descriptor) {
        this.program = program;
        this.name = name;
        this.descriptor = descriptor;
    }

    boolean isOpen() {
        return descriptor.isOpen();
    }

    // ------------------------------------------------------------------ reading

    void read() {
        boolean full = pending.size() > MAX_PENDING && !draining;
        if (!isOpen() || !canRead || receiving || full) {
            return;
        }
        Buffer buffer = takeBuffer();
        Operation read =
                program.operations.read(
                        descriptor,
                        buffer,
                        op -> {
                            completed(op);
                            if (op.result() > 0) {
                                byte[] bytes = new byte[buffer.readable()];
                                assertThat(bytes).hasSize((int) op.result());
                                buffer.get(bytes);
                                received.writeBytes(bytes);
                            } else {
                                noteEnd(op);
                            }
                            giveBuffer(buffer);
                            program.perhapsAct();
                            keepDraining();
                        });
        start(read);
    }

    /// Reads repeatedly into buffers of the loop.
    void receive() {
        if (!isOpen() || !canRead || receiving || !pending.isEmpty()) {
            return;
        }
        receiving = true;
        ReceiveOperation receive =
                program.operations.receive(
                        descriptor,
                        op -> {
                            if (op.result() > 0) {
                                byte[] bytes = new byte[op.received().readable()];
                                op.received().get(bytes);
                                received.writeBytes(bytes);
                            }
                            if (!op.hasMore()) {
                                completed(op);
                                receiving = false;
                                if (op.result() <= 0) {
                                    noteEnd(op);
                                }
                            }
                            program.perhapsAct();
                            keepDraining();
                        });
        start(receive);
    }

    /// Reads until the end from now on.
    void drain() {
        draining = true;
        keepDraining();
    }

    private void keepDraining() {
        if (draining && !ended && !failed) {
            read();
        }
    }

    private void noteEnd(Operation op) {
        if (op.result() == 0) {
            ended = true;
        } else if (!op.isCancelled()) {
            failed = true;
        }
    }

    // ------------------------------------------------------------------ writing

    void write(int length) {
        if (!isOpen() || !canWrite || pending.size() > MAX_PENDING) {
            return;
        }
        byte[] bytes = program.bytes(length);
        Buffer buffer = Buffer.allocate(length).put(bytes);
        Operation write =
                program.operations.write(
                        descriptor,
                        buffer,
                        op -> {
                            completed(op);
                            takeOut(bytes, op);
                            assertThat(op.transferred()).isBetween(0L, (long) bytes.length);
                            sent.write(bytes, 0, (int) op.transferred());
                            if (op.result() < 0 && !op.isCancelled()) {
                                failed = true;
                            } else if (op.result() >= 0) {
                                assertThat(op.transferred()).isEqualTo(bytes.length);
                            }
                            // Detects a use after release: these bytes would be sent.
                            byte[] garbage = new byte[length];
                            Arrays.fill(garbage, SCRIBBLE);
                            buffer.clear().put(garbage);
                            program.perhapsAct();
                        });
        writing.add(bytes);
        if (!start(write)) {
            writing.removeLast();
        }
    }

    /// Writes complete in the order of their starts, unless one is cancelled while it waits.
    @SuppressWarnings("ReferenceEquality") // two may write the same bytes
    private void takeOut(byte[] bytes, Operation op) {
        int at = 0;
        while (writing.get(at) != bytes) {
            at++;
        }
        writing.remove(at);
        boolean outOfTurn = at > 0 && (!op.isCancelled() || op.transferred() > 0);
        assertThat(outOfTurn).as("%s: a write completed before an earlier one", name).isFalse();
    }

    // ------------------------------------------------------------------ all of them

    private boolean start(Operation operation) {
        try {
            operation.start();
        } catch (ClosedDescriptorException e) {
            assertThat(isOpen()).isFalse();
            return false;
        }
        assertThat(operation.isPending()).as("it never completes inside start").isTrue();
        pending.add(operation);
        program.started++;
        return true;
    }

    private void completed(Operation operation) {
        assertThat(pending.remove(operation))
                .as("%s: %s completes exactly once", name, operation)
                .isTrue();
        assertThat(operation.isPending()).isFalse();
        program.completed++;
    }

    void close() {
        descriptor.close();
    }

    /// Returns all bytes that may have reached the other end.
    byte[] sentOrBeingSent() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(sent.toByteArray());
        writing.forEach(all::writeBytes);
        return all.toByteArray();
    }

    // ------------------------------------------------------------------ buffers that nobody may
    // touch

    private Buffer takeBuffer() {
        if (free.isEmpty()) {
            return Buffer.allocate(program.below(3) == 0 ? 7 : 3_000);
        }
        Buffer buffer = free.removeLast();
        verifyUntouched(buffer);
        return buffer.clear();
    }

    private void giveBuffer(Buffer buffer) {
        byte[] pattern = new byte[buffer.capacity()];
        Arrays.fill(pattern, SCRIBBLE);
        buffer.clear().put(pattern);
        free.add(buffer);
    }

    void verifyBuffers() {
        free.forEach(this::verifyUntouched);
    }

    private void verifyUntouched(Buffer buffer) {
        for (int i = 0; i < buffer.readable(); i++) {
            if (buffer.peek(i) != SCRIBBLE) {
                throw new AssertionError(
                        name + ": a buffer was written to after its operation had completed");
            }
        }
    }
}
