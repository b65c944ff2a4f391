package dev.gyre.internal.tls;

import java.nio.ByteBuffer;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/// Where engines work: an array with one record in it. All connections of a loop share it, for nothing stays in it
/// between two calls.
///
/// The JDK's ciphers work on arrays. Memory outside the heap they take through small arrays that they make for each
/// record, a few hundred bytes at a time: so decrypting takes a fifth longer, and encrypting half as long again. One
/// copy into or out of an array that stays in the cache is cheaper.
///
/// One thread at a time.
public final class RecordScratch {
    private static final SSLEngineResult NO_ROOM =
            new SSLEngineResult(Status.BUFFER_OVERFLOW, HandshakeStatus.NOT_HANDSHAKING, 0, 0);

    // Loop thread only.
    private ByteBuffer array = ByteBuffer.allocate(0);

    /// The array, empty, with room for as much.
    ///
    /// @param bytes as a record can have, which bounds the array too
    private ByteBuffer cleared(int bytes) {
        if (array.capacity() < bytes) {
            array = ByteBuffer.allocate(Math.max(bytes, TlsEngine.MAX_RECORD_BYTES));
        }
        return array.clear();
    }

    /// What `unwrap` of the engine does to the first record.
    ///
    /// @param bytes its length; as many are there
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

    /// What `wrap` of the engine does. As there, a destination without room for a whole record is refused, however
    /// little there is to encrypt.
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
            ciphertext.put(record.flip()); // Also when it throws: it may have written an alert.
        }
    }
}
