package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Reads frames from a stream after the upgrade, and assembles messages.
///
/// ```
///          header, and the message is complete ──────────────────────────▶ delivered
///   frames ── header ──▶ payload in pieces ──▶ last of the message? ── yes ─▶ delivered
///     ▲ │                                              │ no
///     │ └── control frame, when it is complete         │
///     └────────────────────────────────────────────────┘
/// ```
///
/// Headers and control frames stay unread until they are complete. Payload is read as it arrives,
/// because a frame may exceed the input limit of the stream. Most messages are complete when they
/// arrive. They are read in memory of the loop, without a [MessageAssembly].
///
/// Loop thread only.
public final class WebSocketProtocol implements Protocol {
    /// The compression work per socket and tick after which others run. A few bytes of input may
    /// inflate to a thousand times as much.
    private static final int MAX_WORK_BYTES = 256 << 10;

    private final WebSocketConfig config;
    private final FrameHeader header;
    private final LoopWebSocket socket;
    private final CloseHandshake closing;
    private final String activity;

    // Loop thread only.
    private EventLoop loop;
    private WebSocketScratch scratch;

    /// The incomplete message; null if absent.
    private @Nullable MessageAssembly assembly;

    /// Whether the header of a frame was read, and its payload was not.
    private boolean inFrame;

    /// The number of payload bytes read of the frame.
    private long frameBytes;

    /// @param extensions the agreed `Sec-WebSocket-Extensions`; null if absent
    /// @param protocol the agreed `Sec-WebSocket-Protocol`; null if absent
    public WebSocketProtocol(
            Stream stream,
            WebSocketConfig config,
            boolean server,
            @Nullable String extensions,
            @Nullable String protocol,
            String target) {
        this.config = config;
        int query = target.indexOf('?'); // May have secrets.
        activity = "WebSocket " + (query < 0 ? target : target.substring(0, query));
        boolean compressed = extensions != null;
        loop = stream.loop();
        scratch = WebSocketScratch.of(loop);
        header = new FrameHeader(server, compressed);
        socket = new LoopWebSocket(stream, scratch, config, server, compressed, protocol, target);
        closing = socket.closing;
    }

    /// Returns the socket for the user.
    public LoopWebSocket socket() {
        return socket;
    }

    @Override
    public String describe(Stream stream) {
        return activity;
    }

    /// Takes the stream over and calls the user's handler before anything is read. A handler that
    /// throws closes the socket only.
    public void begin(Stream stream, Consumer<? super WebSocket> opened) {
        stream.protocol(this);
        try {
            opened.accept(socket);
        } catch (RuntimeException | Error e) {
            socket.callbacks.fail(e);
        }
    }

    // ------------------------------------------------------------------ events of the stream

    @Override
    public void onOpen(Stream stream) {
        socket.timeouts.begin();
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        socket.timeouts.inputReceived();
        boolean progress = true;
        long workBefore = scratch.workedBytes();
        while (progress && !closing.isClosed() && !stream.isPaused() && data.readable() > 0) {
            progress = inFrame ? readPayload(data) : readFrame(data);
            socket.holdIfCongested();
            if (scratch.workedBytes() - workBefore >= MAX_WORK_BYTES && closing.isOpen()) {
                socket.yieldToOthers();
            }
        }
        if (closing.isClosed()) {
            drop();
            data.skip(data.readable());
        }
    }

    @Override
    public void onEnd(Stream stream) {
        closing.lost("the peer ended the connection without a close frame", CloseReason.CLOSED);
    }

    @Override
    public void onWritable(Stream stream) {
        socket.streamWritable();
    }

    @Override
    public boolean beforeMove(Stream stream, EventLoop target) {
        return socket.move.begin(target);
    }

    @Override
    public void onMoved(Stream stream) {
        EventLoop from = loop;
        HeapBudget budget = scratch.heap;
        loop = stream.loop();
        scratch = WebSocketScratch.of(loop);
        long held = socket.sender.acquiredBytes();
        boolean fits = true;
        if (assembly != null) {
            held += assembly.bytes.acquired();
            fits = assembly.bytes.moveTo(scratch.heap, scratch.arrays);
        }
        fits &= socket.move.finish(loop, scratch);
        releaseOn(from, budget, held);
        if (!fits) {
            fail(ProtocolError.NO_MEMORY);
        }
    }

    private static void releaseOn(EventLoop loop, HeapBudget budget, long bytes) {
        try {
            if (bytes > 0) {
                loop.submitPriority(() -> budget.release(bytes));
            }
        } catch (LoopTerminatedException e) {
            // The budget ended with its loop.
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        socket.timeouts.end();
        drop();
        closing.streamClosed();
        if (reason == CloseReason.OUTPUT_LIMIT) {
            scratch.warnOfOutputLimit(socket);
        }
    }

    private void drop() {
        MessageAssembly incomplete = assembly;
        assembly = null;
        if (incomplete != null) {
            socket.timeouts.messageEnds();
            incomplete.bytes.release();
        }
    }

    // ------------------------------------------------------------------ frames

    /// @return whether to continue with the remaining input
    private boolean readFrame(Buffer data) {
        if (!header.read(data)) {
            return false;
        }
        if (header.error != null) {
            return fail(header.error);
        }
        return header.isControl() ? readControl(data) : beginPayload(data);
    }

    private boolean fail(ProtocolError error) {
        drop();
        closing.fail(error.code, error.reason);
        return false;
    }

    private boolean readControl(Buffer data) {
        int length = (int) header.length;
        if (data.readable() < header.size + length) {
            return false;
        }
        byte[] payload = readUnmasked(data, length);
        if (header.opcode == FrameHeader.CLOSE) {
            ProtocolError error = closing.receive(payload, length, scratch.validator);
            return error == null || fail(error);
        }
        if (header.opcode == FrameHeader.PING && closing.mayPong()) {
            socket.deliverPing(payload, length);
        } else if (header.opcode == FrameHeader.PONG && closing.isOpen()) {
            socket.callbacks.deliver(socket.callbacks.pong, payload, length, null);
        }
        return true;
    }

    /// Reads the header and the whole payload of a frame.
    ///
    /// @return memory of the loop that begins with the payload
    private byte[] readUnmasked(Buffer data, int length) {
        data.skip(header.size).get(scratch.scratch, 0, length);
        Masking.apply(scratch.scratch, 0, length, header.key, 0);
        return scratch.scratch;
    }

    // ------------------------------------------------------------------ messages

    private boolean beginPayload(Buffer data) {
        boolean continues = header.opcode == FrameHeader.CONTINUATION;
        if (continues != (assembly != null) && closing.isOpen()) {
            return fail(
                    continues ? ProtocolError.NOTHING_TO_CONTINUE : ProtocolError.NOT_CONTINUED);
        }
        if (!closing.isOpen()) {
            drop();
        } else if (assembly == null) {
            int max = config.maxMessage();
            max = header.compressed ? Inflation.maxCompressed(max) : max;
            if (header.length > max) {
                return fail(ProtocolError.TOO_LONG);
            }
            if (isCompleteMessage(data)) {
                return readMessage(data);
            }
            boolean text = header.opcode == FrameHeader.TEXT;
            assembly = new MessageAssembly(scratch, text, header.compressed, max);
            socket.timeouts.messageBegins();
        } else if (!assembly.bytes.fits(header.length)) {
            return fail(ProtocolError.TOO_LONG);
        }
        data.skip(header.size);
        inFrame = true;
        frameBytes = 0;
        return readPayload(data);
    }

    /// Returns whether the frame is a message, and has arrived completely.
    private boolean isCompleteMessage(Buffer data) {
        int available = data.readable() - header.size;
        return header.last && header.length <= Math.min(WebSocketScratch.SCRATCH_BYTES, available);
    }

    private boolean readMessage(Buffer data) {
        int length = (int) header.length;
        boolean text = header.opcode == FrameHeader.TEXT;
        byte[] payload = readUnmasked(data, length);
        if (header.compressed) {
            return deliverCompressed(text, payload, length);
        }
        if (text && !isValidText(payload, length)) {
            return fail(ProtocolError.NOT_UTF8);
        }
        socket.callbacks.deliver(text, payload, length, null);
        return true;
    }

    private boolean isValidText(byte[] payload, int length) {
        scratch.validator.reset();
        return scratch.validator.accept(payload, 0, length) && scratch.validator.isComplete();
    }

    private boolean deliverCompressed(boolean text, byte[] compressed, int length) {
        Inflation inflation = scratch.inflation;
        try {
            ProtocolError error = inflation.inflate(compressed, length, config.maxMessage());
            if (error == null && text && !isValidText(inflation.bytes, inflation.size)) {
                error = ProtocolError.NOT_UTF8;
            }
            if (error != null) {
                return fail(error);
            }
            socket.callbacks.deliver(text, inflation.bytes, inflation.size, null);
            return true;
        } finally {
            inflation.release();
        }
    }

    private boolean readPayload(Buffer data) {
        long left = header.length - frameBytes;
        int count = (int) Math.min(Math.min(left, data.readable()), WebSocketScratch.SCRATCH_BYTES);
        MessageAssembly message = assembly;
        if (message == null || !closing.isOpen()) {
            data.skip(count); // The socket is closing and drops messages.
        } else if (count > 0) {
            socket.timeouts.messageGrows(count);
            ProtocolError error = message.append(data, count, header.key, frameBytes);
            if (error != null) {
                return fail(error);
            }
        }
        frameBytes += count;
        if (frameBytes == header.length) {
            inFrame = false;
            return !header.last || message == null || endMessage(message);
        }
        return true;
    }

    private boolean endMessage(MessageAssembly message) {
        assembly = null;
        socket.timeouts.messageEnds();
        try {
            if (!closing.isOpen()) {
                return true;
            }
            if (!message.isComplete()) {
                return fail(ProtocolError.NOT_UTF8);
            }
            byte[] payload = message.bytes.array();
            int length = message.bytes.size();
            if (message.compressed) {
                return deliverCompressed(message.text, payload, length);
            }
            socket.callbacks.deliver(message.text, payload, length, message.bytes);
            return true;
        } finally {
            message.bytes.release();
        }
    }
}
