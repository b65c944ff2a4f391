package dev.gyre.os;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/// Bytes cut into lines. A line is put together as bytes and decoded whole, so that it does not
/// matter where chunks end: no byte of a longer UTF-8 character looks like a line feed.
final class Lines implements Chunker {
    /// The room for the beginnings of lines is given back after a line as long as this.
    private static final int KEPT_BYTES = 1 << 13;

    private static final int NONE = -1;

    private final Consumer<? super String> user;
    private final int longestBytes;

    // Loop thread only.
    private ByteBuffer chunk = ByteBuffer.allocate(0);

    /// Where the next line ends in the chunk, if that is known.
    private int lineFeed = NONE;

    /// The beginning of a line whose end is yet to come.
    private ByteArrayOutputStream begun = new ByteArrayOutputStream();

    /// Whether its last byte is a carriage return, which the next may show to be part of the
    /// line's end.
    private boolean returnIsLast;

    private boolean ended;
    private boolean overlong;

    Lines(Consumer<? super String> user, int longestBytes) {
        this.user = user;
        this.longestBytes = longestBytes;
    }

    @Override
    public void add(ByteBuffer chunk) {
        this.chunk = chunk;
    }

    @Override
    public void end() {
        ended = true;
    }

    @Override
    public boolean hasNext() {
        if (lineFeed != NONE) {
            return true;
        }
        if (overlong) {
            return false;
        }
        lineFeed = findLineFeed();
        if (lineFeed != NONE) {
            overlong = begunBytes() + lineBytes() > longestBytes;
        } else {
            // One more, which may be the carriage return of the line's end.
            overlong = begun.size() + chunk.remaining() > longestBytes + (ended ? 0 : 1);
        }
        if (overlong) {
            lineFeed = NONE;
            return false;
        }
        if (lineFeed == NONE) {
            begin(chunk.remaining());
        }
        return lineFeed != NONE || (ended && begun.size() > 0);
    }

    private int findLineFeed() {
        for (int i = chunk.position(); i < chunk.limit(); i++) {
            if (chunk.get(i) == '\n') {
                return i;
            }
        }
        return NONE;
    }

    /// How much of the chunk belongs to the line, without what ends it.
    private int lineBytes() {
        int length = lineFeed - chunk.position();
        return length > 0 && chunk.get(lineFeed - 1) == '\r' ? length - 1 : length;
    }

    /// How much of the line's beginning belongs to the line: its end may have come in two chunks.
    private int begunBytes() {
        return returnIsLast && lineFeed == chunk.position() ? begun.size() - 1 : begun.size();
    }

    private void begin(int count) {
        if (count > 0) {
            byte[] bytes = new byte[count];
            chunk.get(bytes);
            begun.writeBytes(bytes);
            returnIsLast = bytes[count - 1] == '\r';
        }
    }

    @Override
    public void handOverNext() {
        user.accept(takeLine());
    }

    private String takeLine() {
        if (lineFeed == NONE) {
            return takeBegun(begun.size());
        }
        int next = lineFeed + 1;
        int length = begunBytes() + lineBytes();
        begin(lineBytes());
        chunk.position(next);
        lineFeed = NONE;
        return takeBegun(length);
    }

    private String takeBegun(int count) {
        String line = new String(begun.toByteArray(), 0, count, StandardCharsets.UTF_8);
        if (begun.size() > KEPT_BYTES) {
            begun = new ByteArrayOutputStream();
        } else {
            begun.reset();
        }
        returnIsLast = false;
        return line;
    }

    @Override
    public boolean isOverlong() {
        return overlong;
    }
}
