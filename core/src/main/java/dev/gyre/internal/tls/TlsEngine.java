package dev.gyre.internal.tls;

import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.HexFormat;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/// One end of a TLS connection without I/O: [#receive] decrypts input, [#send] encrypts output, and
/// both return what they need next.
///
/// ```
///     from the peer ──▶ receive ──▶ plaintext        INPUT: more bytes from the peer
///                         │  ▲                       OUTPUT: call send first
///       to the peer ◀── send ◀────── plaintext       TASKS: run tasks() on another thread
///                                                    ROOM: a larger or emptier buffer
///                                                    DONE: no output is left
///                                                    END, FAILURE: no more in this direction
/// ```
///
/// Only complete records are consumed, so the engine buffers no bytes. Each record passes through
/// the loop's [RecordScratch].
///
/// **Threads.** One at a time. Only the tasks may run on another thread. Until [#tasksDone()] the
/// JDK's engine is locked and not used.
public final class TlsEngine {
    /// The condition of the next call.
    public enum Next {
        INPUT,
        ROOM,
        OUTPUT,

        /// [TlsEngine#tasks()] must run, or is running.
        TASKS,

        DONE,

        /// This direction has ended with a close_notify.
        END,

        /// See [TlsEngine#failure()]. [TlsEngine#send] still produces the alert.
        FAILURE
    }

    /// The maximum length of a record, including its header (RFC 5246, 6.2.3).
    public static final int MAX_RECORD_BYTES = 5 + (1 << 14) + 2048;

    private static final int CHANGE_CIPHER_SPEC = 20;
    private static final int ALERT = 21;
    private static final int HANDSHAKE = 22;
    private static final int APPLICATION_DATA = 23;
    private static final int MAJOR_VERSION = 3;

    /// How many requests of the peer, such as key updates, may wait for a reply while the peer does
    /// not read. The JDK's engine itself has no limit.
    private static final int MAX_PENDING_REPLIES = 32;

    private static final ByteBuffer[] NOTHING = {};

    /// Makes an engine in any state send `unexpected_message`, as the JDK's sockets do in these
    /// cases. For the peer's own bytes an engine would send `internal_error`.
    private static final byte[] OVERSIZED_RECORD = {
        HANDSHAKE, MAJOR_VERSION, 3, (byte) 0xff, (byte) 0xff
    };

    /// Makes a new engine send `handshake_failure`, as the format is not enabled.
    private static final byte[] SSL2_HELLO =
            HexFormat.of().parseHex("8025010303000c00000010" + "00".repeat(28));

    private final SSLEngine engine;
    private final @Nullable String peer;
    private final HandshakeRecorder recorder;

    // One thread at a time.
    private RecordScratch scratch;
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
            RecordScratch scratch,
            @Nullable String peer,
            HandshakeRecorder recorder) {
        this.engine = engine;
        this.scratch = scratch;
        this.peer = peer;
        this.recorder = recorder;
    }

    /// Moves the engine to another loop, with the scratch buffer of that loop.
    public void moveTo(RecordScratch scratch) {
        this.scratch = scratch;
    }

    /// Whether delegated tasks run on another thread.
    public boolean areTasksRunning() {
        return tasksRunning;
    }

    /// Returns the session; null until the handshake is complete.
    public @Nullable TlsSession session() {
        return session;
    }

    public @Nullable SSLException failure() {
        return failure;
    }

    /// Whether the peer has sent a close_notify.
    public boolean inputEnded() {
        return inputEnded;
    }

    /// Whether [#send] produces no more output.
    public boolean outputEnded() {
        return outputEnded;
    }

    /// Whether [#send] has output of its own: handshake messages, an alert or the close_notify.
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

    /// Decrypts complete records while the destination has room.
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
                    return Next.ROOM; // Avoids a copy.
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
                                    + " bytes, above the TLS limit of "
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

    /// The first record must be a handshake message or an alert.
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

    /// The transport has reached its end.
    ///
    /// @return END after a close_notify, FAILURE otherwise
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
                                ? "the connection ended without close_notify: data may be missing"
                                : "the connection ended during the TLS handshake"));
    }

    /// Encrypts plaintext and sends handshake messages while there is room.
    ///
    /// @param ciphertext with room for at least [#MAX_RECORD_BYTES]
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

    /// Sends handshake messages, an alert or the close_notify only.
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

    /// Ends the output: [#send] adds a close_notify once all its plaintext is encrypted.
    public void end() {
        outputEnding = true;
    }

    /// Sends the alert of a failure if there is room. Does not wait for room.
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
            outputEnded = true; // The original failure is reported.
        }
        outputEnded = true;
    }

    /// Returns the delegated tasks: signatures, key agreement, certificate checks. Run them on
    /// another thread, then call [#tasksDone()].
    ///
    /// @return null if there are none, or if they were returned before
    public @Nullable Runnable tasks() {
        if (tasksRunning || engine.getHandshakeStatus() != HandshakeStatus.NEED_TASK) {
            return null;
        }
        tasksRunning = true;
        return () -> recorder.run(this::runTasks);
    }

    /// The engine keeps exceptions of the tasks and throws them at the next call.
    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask();
                task != null;
                task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    public void tasksDone() {
        tasksRunning = false;
    }

    private void finishHandshake() {
        if (session != null) {
            return; // A key update or ticket of the same session.
        }
        TlsSession agreed = recorder.session(engine, peer);
        session = agreed;
        // TLS 1.3 encrypts the record type and has no renegotiation.
        rejectsHandshakes = agreed.version().equals("TLSv1.2");
    }

    /// The engine and its key and trust managers may throw anything. Only this connection fails.
    private static SSLException unexpected(RuntimeException thrown) {
        return new SSLException("the TLS engine failed: " + thrown, thrown);
    }

    /// Fails, and makes the engine send the fatal alert for an illegal record.
    private Next reject(byte[] illegalRecord, SSLException why) {
        try {
            SSLEngineResult _ =
                    engine.unwrap(ByteBuffer.wrap(illegalRecord), ByteBuffer.allocate(0));
        } catch (SSLException e) {
            why.addSuppressed(e); // The engine has queued the alert.
        }
        return fail(why);
    }

    private Next fail(SSLException why) {
        failure = why;
        return Next.FAILURE;
    }
}
