package dev.gyre.bench.streams;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/// Bare TLS: the JDK's engine over a blocking channel, with one direct buffer per direction for all
/// records of one plaintext buffer. It is the reference for streams with TLS.
final class EngineChannel implements AutoCloseable {
    /// The engine needs space for one type byte per record. Without it, the last record of a full
    /// buffer would wait for the next call.
    private static final int TYPE_BYTES = 64;

    private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

    private final SocketChannel channel;
    private final SSLEngine engine;
    private final int recordBytes;

    /// Received and not yet decrypted records, between position and limit.
    private final ByteBuffer incoming;

    private final ByteBuffer outgoing;

    EngineChannel(SocketChannel channel, SSLEngine engine, int bufferBytes) {
        this.channel = channel;
        this.engine = engine;
        recordBytes = engine.getSession().getPacketBufferSize();
        int bytes = bufferBytes + recordBytes;
        incoming = ByteBuffer.allocateDirect(bytes).limit(0);
        outgoing = ByteBuffer.allocateDirect(bytes);
    }

    /// The read buffer, for the records of one plaintext buffer.
    static ByteBuffer plaintext(int bufferBytes) {
        return ByteBuffer.allocateDirect(bufferBytes + TYPE_BYTES);
    }

    void handshake() throws IOException {
        engine.beginHandshake();
        ByteBuffer early =
                ByteBuffer.allocateDirect(engine.getSession().getApplicationBufferSize());
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> {
                    wrap(NOTHING);
                    flush();
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (unwrap(early).getStatus() == Status.BUFFER_UNDERFLOW) {
                        receive();
                    }
                }
                case FINISHED, NOT_HANDSHAKING -> {
                    if (early.position() > 0) {
                        throw new SSLException("the peer spoke before its turn");
                    }
                    return;
                }
            }
        }
    }

    /// Waits for input, and decrypts as many records as have arrived and fit.
    ///
    /// @throws EOFException at the end of input
    void read(ByteBuffer into) throws IOException {
        int before = into.position();
        while (true) {
            SSLEngineResult result = unwrap(into);
            switch (result.getStatus()) {
                case OK -> {
                    if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                        runTasks();
                    }
                }
                case BUFFER_UNDERFLOW -> {
                    if (into.position() > before) {
                        return;
                    }
                    receive();
                }
                case BUFFER_OVERFLOW -> {
                    if (into.position() == before) {
                        throw new SSLException("no room for a record in " + into);
                    }
                    return;
                }
                case CLOSED -> throw new EOFException("the peer ended TLS");
            }
        }
    }

    /// Encrypts all of it, and waits until the kernel has accepted it.
    void write(ByteBuffer from) throws IOException {
        while (from.hasRemaining()) {
            wrap(from);
            if (outgoing.remaining() < recordBytes) {
                flush();
            }
        }
        flush();
    }

    private void wrap(ByteBuffer from) throws SSLException {
        Status status = engine.wrap(from, outgoing).getStatus();
        if (status != Status.OK) {
            throw new SSLException("wrap: " + status);
        }
    }

    private void flush() throws IOException {
        outgoing.flip();
        while (outgoing.hasRemaining()) {
            channel.write(outgoing);
        }
        outgoing.clear();
    }

    private SSLEngineResult unwrap(ByteBuffer into) throws SSLException {
        return engine.unwrap(incoming, into);
    }

    private void receive() throws IOException {
        incoming.compact();
        int received = channel.read(incoming);
        incoming.flip();
        if (received < 0) {
            throw new EOFException("the peer ended the connection");
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask();
                task != null;
                task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /// Closes without close_notify: both ends know the length.
    @Override
    public void close() throws IOException {
        channel.close();
    }
}
