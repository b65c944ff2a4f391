package dev.gyre.http.internal.websocket;

import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Reads frames off a stream after the upgrade, and makes messages of them.
///
/// ```
///          header, and whole message there ──────────────────────────────▶ delivered
///   frames ── header ──▶ content in pieces ──▶ last of the message? ── yes ─▶ delivered
///     ▲ │                                              │ no
///     │ └── control frame, when all of it is there     │
///     └────────────────────────────────────────────────┘
/// ```
///
/// Headers and control frames are left unread until they are there. Content is taken as it comes: a frame may be
/// longer than what a stream keeps. Most messages are there at once, and are read in memory of the loop's: no
/// [MessageAssembly] is made for those.
///
/// Loop thread only.
public final class WebSocketProtocol implements Protocol {
    /// How much is inflated and deflated for a socket in one turn, by messages that are begun before that: what
    /// arrives in a turn is little, and may become a thousand times as much.
    private static final int MOST_WORK_BYTES = 256 << 10;

    private final WebSocketConfig config;
    private final Workbench bench;
    private final FrameHeader header;
    private final LoopSocket socket;
    private final Closing closing;

    // Loop thread only.
    /// The message that is not whole yet.
    private @Nullable MessageAssembly assembly;

    /// Whether content of the frame is read, also if it has none.
    private boolean inFrame;

    /// How much of it was read.
    private long taken;

    /// @param extensions what was agreed on: [Handshake.Accepted#extensions()]; null for nothing
    /// @param protocol what was agreed on; null for nothing
    public WebSocketProtocol(
            Stream stream,
            WebSocketConfig config,
            boolean server,
            @Nullable String extensions,
            @Nullable String protocol,
            String target) {
        this.config = config;
        boolean compressed = extensions != null;
        bench = Workbench.of(stream.loop());
        header = new FrameHeader(server, compressed);
        socket = new LoopSocket(stream, bench, config, server, compressed, protocol, target);
        closing = socket.closing();
    }

    /// What users have of it.
    public WebSocket socket() {
        return socket;
    }

    LoopSocket loopSocket() {
        return socket;
    }

    /// Takes the stream over and hands the socket to whom it was opened for, before anything is read: what that
    /// throws costs the socket only.
    public void begin(Stream stream, Consumer<? super WebSocket> opened) {
        stream.protocol(this);
        try {
            opened.accept(socket);
        } catch (RuntimeException | Error e) {
            socket.callbacks().failed(e);
        }
    }

    // ------------------------------------------------------------------ as the stream's protocol

    @Override
    public void onOpen(Stream stream) {
        socket.times().begin();
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        socket.times().heard();
        boolean goesOn = true;
        long workedBefore = bench.workedBytes();
        while (goesOn && !closing.isOver() && !stream.isPaused() && data.readable() > 0) {
            goesOn = inFrame ? readContent(data) : readFrame(data);
            socket.holdIfCongested();
            if (bench.workedBytes() - workedBefore >= MOST_WORK_BYTES && closing.isOpen()) {
                socket.reading().yieldToOthers();
            }
        }
        if (closing.isOver()) {
            drop();
            data.skip(data.readable());
        }
    }

    @Override
    public void onEnd(Stream stream) {
        closing.lost(Loss.ENDED);
    }

    @Override
    public void onWritable(Stream stream) {
        socket.writable();
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        socket.times().end();
        drop();
        closing.streamClosed();
        if (reason == CloseReason.OUTPUT_LIMIT && bench.isFirstAtOutputLimit()) {
            Loss.warnOfOutputLimit(socket);
        }
    }

    private void drop() {
        MessageAssembly unfinished = assembly;
        assembly = null;
        if (unfinished != null) {
            socket.times().messageEnds();
            unfinished.release();
        }
    }

    // ------------------------------------------------------------------ frames

    /// @return whether there was enough to go on
    private boolean readFrame(Buffer data) {
        if (!header.read(data)) {
            return false;
        }
        Violation wrong = header.violation();
        if (wrong != null) {
            return refuse(wrong);
        }
        return header.isControl() ? readControl(data) : beginContent(data);
    }

    private boolean refuse(Violation wrong) {
        drop();
        closing.fail(wrong.code(), wrong.words());
        return false;
    }

    private boolean readControl(Buffer data) {
        int length = (int) header.length();
        if (data.readable() < header.size() + length) {
            return false;
        }
        data.skip(header.size());
        byte[] content = take(data, length);
        switch (header.opcode()) {
            case FrameHeader.CLOSE -> {
                Violation wrong = closing.heard(content, length, bench.text);
                return wrong == null || refuse(wrong);
            }
            case FrameHeader.PING -> {
                if (closing.isOpen()) {
                    socket.deliverPing(content, length);
                }
            }
            default -> {
                if (closing.isOpen()) {
                    socket.deliverPong(content, length);
                }
            }
        }
        return true;
    }

    /// @return memory of the loop's with so many bytes, unmasked
    private byte[] take(Buffer data, int length) {
        data.get(bench.scratch, 0, length);
        Masking.apply(bench.scratch, 0, length, header.key(), 0);
        return bench.scratch;
    }

    // ------------------------------------------------------------------ messages

    private boolean beginContent(Buffer data) {
        boolean continues = header.opcode() == FrameHeader.CONTINUATION;
        if (continues != (assembly != null) && closing.isOpen()) {
            return refuse(continues ? Violation.NOTHING_TO_CONTINUE : Violation.NOT_CONTINUED);
        }
        long length = header.length();
        if (!closing.isOpen()) {
            drop();
        } else if (assembly == null) {
            boolean packed = header.isPacked();
            int most = packed ? Inflation.mostPacked(config.maxMessage()) : config.maxMessage();
            if (length > most) {
                return refuse(Violation.TOO_LONG);
            }
            if (isWhole(data)) {
                return readWhole(data);
            }
            assembly =
                    new MessageAssembly(bench, header.opcode() == FrameHeader.TEXT, packed, most);
            socket.times().messageBegins();
        } else if (!assembly.fits(length)) {
            return refuse(Violation.TOO_LONG);
        }
        data.skip(header.size());
        inFrame = true;
        taken = 0;
        return readContent(data);
    }

    /// Whether the frame is a message, and there is all of it.
    private boolean isWhole(Buffer data) {
        return header.isLast()
                && header.length()
                        <= Math.min(Workbench.SCRATCH_BYTES, data.readable() - header.size());
    }

    private boolean readWhole(Buffer data) {
        int length = (int) header.length();
        boolean text = header.opcode() == FrameHeader.TEXT;
        data.skip(header.size());
        byte[] content = take(data, length);
        if (header.isPacked()) {
            return deliverPacked(text, content, length);
        }
        if (text && !isText(content, length)) {
            return refuse(Violation.NOT_UTF8);
        }
        socket.deliver(text, content, length);
        return true;
    }

    private boolean isText(byte[] content, int length) {
        bench.text.reset();
        return bench.text.accept(content, 0, length) && bench.text.isWhole();
    }

    private boolean deliverPacked(boolean text, byte[] packed, int length) {
        Inflation inflation = bench.inflation;
        try {
            Violation wrong = inflation.inflate(packed, length, config.maxMessage());
            if (wrong == null && text && !isText(inflation.bytes(), inflation.size())) {
                wrong = Violation.NOT_UTF8;
            }
            if (wrong != null) {
                return refuse(wrong);
            }
            socket.deliver(text, inflation.bytes(), inflation.size());
            return true;
        } finally {
            inflation.release();
        }
    }

    private boolean readContent(Buffer data) {
        long left = header.length() - taken;
        int count = (int) Math.min(Math.min(left, data.readable()), Workbench.SCRATCH_BYTES);
        MessageAssembly message = assembly;
        if (message == null || !closing.isOpen()) {
            data.skip(count); // The closing handshake has begun: nobody wants it any more.
        } else if (count > 0) {
            socket.times().messageGrows(count);
            Violation wrong = message.take(data, count, header.key(), taken);
            if (wrong != null) {
                return refuse(wrong);
            }
        }
        taken += count;
        if (taken == header.length()) {
            inFrame = false;
            return !header.isLast() || message == null || endMessage(message);
        }
        return true;
    }

    private boolean endMessage(MessageAssembly message) {
        assembly = null;
        socket.times().messageEnds();
        try {
            if (!closing.isOpen()) {
                return true;
            }
            if (!message.isWhole()) {
                return refuse(Violation.NOT_UTF8);
            }
            if (message.isPacked()) {
                return deliverPacked(message.isText(), message.bytes(), message.size());
            }
            socket.deliver(message.isText(), message.bytes(), message.size());
            return true;
        } finally {
            message.release();
        }
    }
}
