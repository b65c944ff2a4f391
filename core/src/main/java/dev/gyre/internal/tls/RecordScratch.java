package dev.gyre.internal.tls;

import java.nio.ByteBuffer;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/// A heap buffer for one record, shared by all TLS connections of a loop. It is empty between
/// calls.
///
/// The JDK's ciphers work on arrays. For direct buffers they allocate arrays of a few hundred bytes
/// per record: decryption takes 20 % longer and encryption 50 %. One copy through a cached array is
/// cheaper.
///
/// One thread at a time.
public final class RecordScratch {
    private static final SSLEngineResult NO_ROOM =
            new SSLEngineResult(Status.BUFFER_OVERFLOW, HandshakeStatus.NOT_HANDSHAKING, 0, 0);

    // Loop thread only.
    private ByteBuffer array = ByteBuffer.allocate(0);

    /// Returns the cleared buffer, grown to at least this capacity.
    private ByteBuffer cleared(int bytes) {
        if (array.capacity() < bytes) {
            array = ByteBuffer.allocate(Math.max(bytes, TlsEngine.MAX_RECORD_BYTES));
        }
        return array.clear();
    }

    /// Decrypts the first record of `bytes` bytes, which must be complete.
    SSLEngineResult unwrap(SSLEngine engine, Ciphertext arrived, int bytes, ByteBuffer plaintext)
            throws SSLException {
        ByteBuffer record = cleared(bytes);
        arrived.copyTo(record, bytes);
        record.flip();
        try {
            return engine.unwrap(record, plaintext);
        } finally {
            arrived.consume(record.position());
        }
    }

    /// Encrypts one record. Like the engine, requires room for a record of maximum length.
    SSLEngineResult wrap(
            SSLEngine engine, ByteBuffer[] plaintext, int from, int count, ByteBuffer ciphertext)
            throws SSLException {
        int most = engine.getSession().getPacketBufferSize();
        if (ciphertext.remaining() < most) {
            return NO_ROOM;
        }
        ByteBuffer record = cleared(most);
        try {
            return engine.wrap(plaintext, from, count, record);
        } finally {
            ciphertext.put(record.flip()); // Even after an exception: it may contain an alert.
        }
    }
}
