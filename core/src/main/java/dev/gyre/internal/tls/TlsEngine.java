package dev.gyre.internal.tls;

import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.HexFormat;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/// One end of a TLS connection, without the connection: what arrives is given to [#receive], what is to be sent comes out of
/// [#send], and both say what has to happen before they can go on.
///
/// ```
///     from the peer ──▶ receive ──▶ plaintext        INPUT: more from the peer      TASKS: run [#tasks()] elsewhere
///                         │  ▲                       OUTPUT: send first             ROOM: a larger or emptier buffer
///       to the peer ◀── send ◀────── plaintext       DONE: nothing is left to do    END, FAILURE: no more
/// ```
///
/// A record is taken when all of it is there; a part of one is left where it is, so this holds no bytes itself. Records
/// are decrypted and encrypted one by one on a [RecordScratch], which is everybody's.
///
/// **Threads.** One at a time; only the tasks may run on another, and until [#tasksDone()] the engine is not touched: it
/// is locked while they run.
public final class TlsEngine {
    /// What stands in the way of going on.
    public enum Next {
        /// The rest of a record has to arrive.
        INPUT,

        /// The destination has no room for the next record.
        ROOM,

        /// Something has to be sent before more can be received.
        OUTPUT,

        /// [TlsEngine#tasks()] has to be run, or is running.
        TASKS,

        /// Nothing: all there was is sent.
        DONE,

        /// This direction has ended with a close_notify.
        END,

        /// See [TlsEngine#failure()]. What is to tell the peer of it still comes out of [TlsEngine#send].
        FAILURE
    }

    /// The longest record that TLS allows, with its header (RFC 5246, 6.2.3).
    public static final int MAX_RECORD_BYTES = 5 + (1 << 14) + 2048;

    private static final int CHANGE_CIPHER_SPEC = 20;
    private static final int ALERT = 21;
    private static final int HANDSHAKE = 22;
    private static final int APPLICATION_DATA = 23;
    private static final int MAJOR_VERSION = 3;

    /// How many requests of the peer, such as for new keys, may go unanswered while it does not read. The engine itself
    /// keeps as many answers as it is asked for.
    private static final int MAX_PENDING_REPLIES = 32;

    private static final ByteBuffer[] NOTHING = {};

    /// Makes an engine in any state send `unexpected_message`, as the JDK's sockets do in these
    /// cases. For the peer's own bytes an engine would send `internal_error`.
    private static final byte[] OVERSIZED_RECORD = {
        HANDSHAKE, MAJOR_VERSION, 3, (byte) 0xff, (byte) 0xff
    };

    /// Makes a new engine send `handshake_failure`: the format is not enabled, whatever version it offers.
    private static final byte[] SSL2_HELLO =
            HexFormat.of().parseHex("8025010303000c00000010" + "00".repeat(28));

    private final SSLEngine engine;
    private final RecordScratch scratch;
    private final @Nullable String peer;
    private final HandshakeRecorder recorder;

    // One thread at a time.
    private @Nullable TlsSession session;
    private @Nullable SSLException failure;
    private boolean tasksRunning;
    private boolean sawRecord;
    private boolean rejectsHandshakes;
    private boolean inputEnded;
    private boolean outputEnding;
    private boolean outputEnded;
    private int pendingReplies;

    /// @param peer the server's name, for a client
    TlsEngine(
            SSLEngine engine,
            RecordScratch bench,
            @Nullable String peer,
            HandshakeRecorder witness) {
        this.engine = engine;
        this.scratch = bench;
        this.peer = peer;
        this.recorder = witness;
    }

    // ------------------------------------------------------------------ looking

    /// What was agreed on; null until the handshake is over.
    public @Nullable TlsSession session() {
        return session;
    }

    /// What went wrong; null if nothing has.
    public @Nullable SSLException failure() {
        return failure;
    }

    /// Whether the peer has ended its output with a close_notify.
    public boolean inputEnded() {
        return inputEnded;
    }

    /// Whether nothing comes out of [#send] any more.
    public boolean outputEnded() {
        return outputEnded;
    }

    /// Whether [#send] has something to send of its own, such as a message of the handshake, an alert or the end.
    public boolean hasOutput() {
        return !tasksRunning
                && !outputEnded
                && (outputEnding
                        || failure != null
                        || engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
                        || (session == null
                                && engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING
                                && engine.getUseClientMode()));
    }

    // ------------------------------------------------------------------ receiving

    /// Decrypts as many records as there are and have room.
    ///
    /// @return INPUT, ROOM, OUTPUT, TASKS, END or FAILURE
    public Next receive(Ciphertext ciphertext, ByteBuffer plaintext) {
        if (failure != null) {
            return Next.FAILURE;
        }
        if (tasksRunning) {
            return Next.TASKS;
        }
        try {
            while (true) {
                Next obstacle = checkRecord(ciphertext);
                if (obstacle != null) {
                    return obstacle;
                }
                int length = ciphertext.recordLength();
                if (plaintext.position() > 0 && plaintext.remaining() < length) {
                    return Next.ROOM; // Before it is copied in vain.
                }
                if (!sawRecord && !engine.getUseClientMode()) {
                    recorder.noteHello(ciphertext.peek(length));
                }
                SSLEngineResult result = scratch.unwrap(engine, ciphertext, length, plaintext);
                if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
                    return Next.ROOM;
                }
                afterRecord(result);
            }
        } catch (SSLException e) {
            return fail(TlsErrors.describe(e, peer));
        } catch (RuntimeException e) {
            return fail(unexpected(e));
        }
    }

    private @Nullable Next checkRecord(Ciphertext ciphertext) {
        if (inputEnded) {
            return Next.END;
        }
        HandshakeStatus status = engine.getHandshakeStatus();
        if (status == HandshakeStatus.NEED_TASK) {
            return Next.TASKS;
        }
        if (status != HandshakeStatus.NEED_WRAP) {
            pendingReplies = 0;
        } else if (session == null || pendingReplies > MAX_PENDING_REPLIES) {
            return Next.OUTPUT;
        }
        if (!ciphertext.hasHeader()) {
            return Next.INPUT;
        }
        int type = ciphertext.type();
        if (!sawRecord && ciphertext.isSsl2Hello()) {
            return reject(SSL2_HELLO, TlsErrors.ssl2());
        }
        if (!isExpected(type) || ciphertext.majorVersion() != MAJOR_VERSION) {
            return reject(OVERSIZED_RECORD, TlsErrors.notTls(ciphertext, !sawRecord));
        }
        int length = ciphertext.recordLength();
        if (length > MAX_RECORD_BYTES) {
            return reject(
                    OVERSIZED_RECORD,
                    new SSLException(
                            "the peer sent a record of "
                                    + length
                                    + " bytes, and TLS allows "
                                    + MAX_RECORD_BYTES));
        }
        if (ciphertext.remaining() < length) {
            return Next.INPUT;
        }
        if (type == HANDSHAKE && rejectsHandshakes) {
            return reject(
                    OVERSIZED_RECORD,
                    new SSLException("the peer requested renegotiation, which is not allowed"));
        }
        return null;
    }

    /// A connection begins with a handshake message, or with an alert in its place.
    private boolean isExpected(int type) {
        return sawRecord
                ? type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA
                : type == HANDSHAKE || type == ALERT;
    }

    private void afterRecord(SSLEngineResult result) {
        sawRecord = true;
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
            inputEnded = true;
        }
        if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) {
            finishHandshake();
        } else if (result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
                && result.bytesProduced() == 0) {
            pendingReplies++;
        }
    }

    /// The connection has ended: nothing will arrive any more.
    ///
    /// @return END if the peer said so before, otherwise FAILURE
    public Next inputClosed() {
        if (failure != null) {
            return Next.FAILURE;
        }
        if (inputEnded) {
            return Next.END;
        }
        return fail(
                new SSLException(
                        session != null
                                ? "the connection ended without close_notify: something may be"
                                        + " missing"
                                : "the connection ended during the TLS handshake"));
    }

    // ------------------------------------------------------------------ sending

    /// Encrypts as much as has room, and sends what the handshake needs.
    ///
    /// @param ciphertext with room for [#MOST_RECORD_BYTES] at least
    /// @return INPUT, ROOM, TASKS, DONE, END or FAILURE
    public Next send(ByteBuffer[] plaintext, int from, int count, ByteBuffer ciphertext) {
        if (tasksRunning) {
            return Next.TASKS;
        }
        if (failure != null) {
            sendAlert(ciphertext);
            return Next.FAILURE;
        }
        try {
            while (true) {
                if (outputEnding && !hasRemaining(plaintext, from, count)) {
                    engine.closeOutbound();
                }
                SSLEngineResult result = scratch.wrap(engine, plaintext, from, count, ciphertext);
                Next obstacle = afterWrap(result, plaintext, from, count);
                if (obstacle != null) {
                    return obstacle;
                }
            }
        } catch (SSLException e) {
            fail(TlsErrors.describe(e, peer));
        } catch (RuntimeException e) {
            fail(unexpected(e));
        }
        sendAlert(ciphertext);
        return Next.FAILURE;
    }

    /// Sends only what the handshake, an alert or the end needs.
    ///
    /// @return as [#send(ByteBuffer\[\], int, int, ByteBuffer)]
    public Next send(ByteBuffer ciphertext) {
        return send(NOTHING, 0, 0, ciphertext);
    }

    private @Nullable Next afterWrap(
            SSLEngineResult result, ByteBuffer[] plaintext, int from, int count) {
        if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) {
            finishHandshake();
        }
        switch (result.getStatus()) {
            case BUFFER_OVERFLOW -> {
                return Next.ROOM;
            }
            case CLOSED -> {
                outputEnded = true;
                return Next.END;
            }
            default -> {}
        }
        return switch (result.getHandshakeStatus()) {
            case NEED_TASK -> Next.TASKS;
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> Next.INPUT;
            case NEED_WRAP, FINISHED -> null;
            case NOT_HANDSHAKING -> hasRemaining(plaintext, from, count) ? null : Next.DONE;
        };
    }

    private static boolean hasRemaining(ByteBuffer[] plaintext, int from, int count) {
        for (int i = from; i < from + count; i++) {
            if (plaintext[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /// Ends the output behind what has been sent: the next [#send] adds a close_notify when all its plaintext is taken.
    public void end() {
        outputEnding = true;
    }

    /// The alert of a failure, if there is room; a connection that failed is not worth waiting for it.
    private void sendAlert(ByteBuffer ciphertext) {
        if (outputEnded) {
            return;
        }
        try {
            engine.closeOutbound();
            while (!engine.isOutboundDone()) {
                SSLEngineResult result = scratch.wrap(engine, NOTHING, 0, 0, ciphertext);
                if (result.bytesProduced() == 0) {
                    break;
                }
            }
        } catch (SSLException | RuntimeException e) {
            outputEnded = true; // It has no more to say than what is known.
        }
        outputEnded = true;
    }

    // ------------------------------------------------------------------ the handshake

    /// What has to be done on another thread before anything else: signatures, key agreement, the look at certificates.
    /// Call [#tasksDone()] afterwards.
    ///
    /// @return null if there is nothing, or it has been handed out
    public @Nullable Runnable tasks() {
        if (tasksRunning || engine.getHandshakeStatus() != HandshakeStatus.NEED_TASK) {
            return null;
        }
        tasksRunning = true;
        return () -> recorder.run(this::runTasks);
    }

    /// What goes wrong in them the engine keeps, and throws at the next call.
    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask();
                task != null;
                task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /// The tasks have been run.
    public void tasksDone() {
        tasksRunning = false;
    }

    private void finishHandshake() {
        if (session != null) {
            return; // new keys or tickets, within the same session
        }
        TlsSession agreed = recorder.session(engine, peer);
        session = agreed;
        // In TLS 1.3 the type of a record is hidden, and there is no negotiating anew.
        rejectsHandshakes = agreed.version().equals("TLSv1.2");
    }

    /// Engines and what they ask, such as managers of keys, may throw anything: it is this connection's only.
    private static SSLException unexpected(RuntimeException thrown) {
        return new SSLException("the TLS engine failed: " + thrown, thrown);
    }

    /// Fails, with the fatal alert that the engine sends for an illegal record.
    private Next reject(byte[] illegalRecord, SSLException why) {
        try {
            SSLEngineResult _ =
                    engine.unwrap(ByteBuffer.wrap(illegalRecord), ByteBuffer.allocate(0));
        } catch (SSLException e) {
            why.addSuppressed(e); // The engine now has the alert to send.
        }
        return fail(why);
    }

    private Next fail(SSLException why) {
        failure = why;
        return Next.FAILURE;
    }
}
