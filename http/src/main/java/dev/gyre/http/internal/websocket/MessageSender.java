package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/// Sends the messages of a socket: compresses long ones, and queues those that the stream cannot
/// accept.
///
/// ```
///     message ── up to 1 MiB, queue empty ──▶ one frame ──────────────────────▶ stream
///             └─ longer, or queue not empty ─▶ queue ── stream is writable ──▶ frames ──▶ stream
/// ```
///
/// A stream copies its output to native memory and limits it. So a long message waits on the heap,
/// counted by the loop's [dev.gyre.http.internal.memory.HeapBudget]. It is sent in fragments, and
/// control frames can be sent between them. Messages of a group that wait share their memory.
///
/// All methods that send return false if the stream is not writable, or messages wait. The stream
/// becomes writable again in both cases.
///
/// Loop thread only.
final class MessageSender {
    /// The maximum length of a message that is sent as one frame.
    private static final int MAX_FRAME_BYTES = 1 << 20;

    private static final int FRAGMENT_BYTES = WebSocketScratch.SCRATCH_BYTES;

    /// A message that waits, or the rest of one.
    private static final class Waiting {
        final ByteBuffer payload;
        int acquiredBytes;
        int opcode;
        boolean compressed;
        @Nullable Waiting next;

        /// @param acquiredBytes the part that counts toward the heap budget
        Waiting(int opcode, boolean compressed, ByteBuffer payload, int acquiredBytes) {
            this.opcode = opcode;
            this.compressed = compressed;
            this.payload = payload;
            this.acquiredBytes = acquiredBytes;
        }
    }

    private final Stream stream;
    private final FrameWriter frames;
    private final boolean compresses;
    private final LoopWebSocket socket;
    private final long maxQueuedBytes;

    // Loop thread only.
    private WebSocketScratch scratch;
    private @Nullable Waiting first;
    private @Nullable Waiting last;
    private long queuedBytes;

    MessageSender(
            LoopWebSocket socket,
            Stream stream,
            WebSocketScratch scratch,
            FrameWriter frames,
            WebSocketConfig config,
            boolean compresses) {
        this.socket = socket;
        this.stream = stream;
        this.scratch = scratch;
        this.frames = frames;
        this.compresses = compresses;
        long limit = config.streams().outputLimit();
        maxQueuedBytes = limit + Math.min(config.maxMessage(), Long.MAX_VALUE - limit);
    }

    // ------------------------------------------------------------------ messages

    boolean text(String text) {
        int chars = text.length();
        if (!frames.masks
                && isQueueEmpty()
                && !(compresses && chars >= WebSocketScratch.MIN_COMPRESSED_BYTES)
                && chars <= WebSocketScratch.SCRATCH_BYTES / 3) {
            return frames.text(text);
        }
        return message(FrameHeader.TEXT, ByteBuffer.wrap(text.getBytes(UTF_8)));
    }

    boolean binary(ByteBuffer payload) {
        return message(FrameHeader.BINARY, payload);
    }

    /// Sends the readable bytes of a buffer and consumes them. They are not copied to the heap,
    /// unless they must wait.
    boolean binary(Buffer payload) {
        boolean writable = binary(payload.asReadable());
        payload.skip(payload.readable());
        return writable;
    }

    private boolean message(int opcode, ByteBuffer payload) {
        int length = payload.remaining();
        if (compresses && length >= WebSocketScratch.MIN_COMPRESSED_BYTES) {
            byte[] room = scratch.roomToDeflate(length);
            try {
                int size = scratch.deflate(payload, room);
                if (size >= 0) {
                    return send(opcode, true, ByteBuffer.wrap(room, 0, size));
                }
            } finally {
                scratch.arrays.release(room);
            }
        }
        return send(opcode, false, payload);
    }

    private boolean send(int opcode, boolean compressed, ByteBuffer payload) {
        if (isQueueEmpty() && payload.remaining() <= MAX_FRAME_BYTES) {
            return frames.frame(opcode, true, compressed, payload);
        }
        Waiting message = new Waiting(opcode, compressed, payload, 0);
        boolean writable = isQueueEmpty() && writeWhileWritable(message);
        return writable || copyToQueue(message);
    }

    /// Copies the rest of a message, because its payload belongs to the caller.
    private boolean copyToQueue(Waiting message) {
        int length = message.payload.remaining();
        if (canQueue(message)) {
            if (scratch.heap.tryAcquire(length)) {
                ByteBuffer copy = ByteBuffer.allocate(length).put(message.payload).flip();
                add(new Waiting(message.opcode, message.compressed, copy, length));
            } else {
                socket.closing.fail(CloseHandshake.TRY_AGAIN_LATER, "no memory for a message");
            }
        }
        return false;
    }

    /// Returns whether the rest of a message may wait. Closes the socket if the queue is full.
    private boolean canQueue(Waiting message) {
        if (isWritten(message) || !frames.canWrite()) {
            return false;
        }
        boolean fits = queuedBytes + message.payload.remaining() <= maxQueuedBytes;
        if (!fits) {
            socket.closing.fail(CloseHandshake.TRY_AGAIN_LATER, "too much output is pending");
            scratch.warnOfOutputLimit(socket);
        }
        return fits;
    }

    private void add(Waiting message) {
        if (last == null) {
            first = message;
        } else {
            last.next = message;
        }
        last = message;
        queuedBytes += message.payload.remaining();
    }

    // ------------------------------------------------------------------ messages of a group

    /// Returns the frame of a message that this socket shares with others. It may be compressed.
    byte[] sharedFrame(EncodedMessage message) {
        return compresses ? message.compressedFrame(scratch) : message.frame();
    }

    /// Sends a message with the frame of [#sharedFrame].
    ///
    /// @param waits whether the message waits until the stream is writable
    boolean shared(EncodedMessage message, byte[] frame, boolean waits) {
        if (!waits && !frames.masks && isQueueEmpty() && frame.length <= MAX_FRAME_BYTES) {
            return frames.encoded(frame);
        }
        boolean compressed = (frame[0] & FrameHeader.RSV1) != 0;
        ByteBuffer payload = ByteBuffer.wrap(frame);
        payload.position(FrameHeader.sizeOf(frame));
        int opcode = message.isText() ? FrameHeader.TEXT : FrameHeader.BINARY;
        Waiting waiting = new Waiting(opcode, compressed, payload, 0);
        if (!waits && isQueueEmpty() && writeWhileWritable(waiting)) {
            return true;
        }
        // The group has its own limit.
        if (waits || canQueue(waiting)) {
            add(waiting);
        }
        return false;
    }

    // ------------------------------------------------------------------ queue

    boolean isQueueEmpty() {
        return first == null;
    }

    /// Returns the number of bytes that wait, including those in the stream.
    long pendingBytes() {
        return stream.pending() + queuedBytes;
    }

    /// Writes waiting messages while the stream is writable.
    ///
    /// @return whether it still is, and no message waits
    boolean drain() {
        boolean writable = true;
        Waiting message = first;
        while (message != null && writable && frames.canWrite()) {
            int before = message.payload.remaining();
            writable = writeWhileWritable(message);
            queuedBytes -= before - message.payload.remaining();
            if (isWritten(message)) {
                scratch.heap.release(message.acquiredBytes);
                first = message.next;
                last = first == null ? null : last;
            }
            message = first;
        }
        return writable;
    }

    /// Returns the number of bytes of waiting messages that count in the loop's budget.
    long acquiredBytes() {
        long sum = 0;
        for (Waiting each = first; each != null; each = each.next) {
            sum += each.acquiredBytes;
        }
        return sum;
    }

    /// Moves to another loop, whose budget counts the waiting messages from now on.
    ///
    /// @return false if that budget is used up
    boolean moveTo(WebSocketScratch scratch) {
        this.scratch = scratch;
        boolean fits = true;
        for (Waiting each = first; each != null; each = each.next) {
            if (!scratch.heap.tryAcquire(each.acquiredBytes)) {
                each.acquiredBytes = 0;
                fits = false;
            }
        }
        return fits;
    }

    /// Discards waiting messages when the socket is closed.
    void discard() {
        for (Waiting each = first; each != null; each = each.next) {
            scratch.heap.release(each.acquiredBytes);
        }
        first = null;
        last = null;
        queuedBytes = 0;
    }

    /// Writes a message, in fragments if it is long, while the stream is writable.
    ///
    /// @return whether the message is written, and the stream still writable
    private boolean writeWhileWritable(Waiting message) {
        boolean writable = true;
        while (writable && !isWritten(message)) {
            ByteBuffer payload = message.payload;
            int rest = payload.remaining();
            boolean unfragmented =
                    message.opcode != FrameHeader.CONTINUATION && rest <= MAX_FRAME_BYTES;
            int count = unfragmented ? rest : Math.min(rest, FRAGMENT_BYTES);
            ByteBuffer fragment = payload.slice(payload.position(), count);
            payload.position(payload.position() + count);
            int opcode = message.opcode;
            boolean compressed = message.compressed;
            message.opcode = FrameHeader.CONTINUATION;
            message.compressed = false;
            writable = frames.frame(opcode, !payload.hasRemaining(), compressed, fragment);
        }
        return writable;
    }

    private static boolean isWritten(Waiting message) {
        return message.opcode == FrameHeader.CONTINUATION && !message.payload.hasRemaining();
    }
}
