package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// The head of a request or a response: its first line and its headers.
///
/// **Threads.** One at a time.
public abstract sealed class MessageHead extends ParsedHeaders permits RequestHead, ResponseHead {
    private final HeadBuffer window;
    final Framing framing;

    // Loop thread only.
    private int length;
    private @Nullable ParseError error;

    MessageHead(int maxBytes, int maxCount, Framing.Section section) {
        super(maxCount);
        window = new HeadBuffer(maxBytes);
        framing = new Framing(section);
    }

    /// Parses a head at the read index, and consumes nothing.
    ///
    /// @return its length with the empty line; 0 if more is needed; -1 if it is rejected
    /// @throws IllegalStateException if the previous head is kept
    public final int parse(Buffer data) {
        if (isKept()) {
            throw new IllegalStateException(
                    "a kept head cannot parse another message: release() it first");
        }
        window.open(data);
        int at = parse(window.bytes(), window.end());
        while (at == 0 && window.widen(data)) {
            at = parse(window.bytes(), window.end());
        }
        if (at > 0) {
            window.used(at);
            length = at;
            return at;
        }
        if (at < 0 || window.isFull()) {
            return reject(at == 0 ? ParseError.HEAD_TOO_LARGE : ParseError.of(at));
        }
        release();
        return 0;
    }

    /// Rejects a head, even a complete one, for a reason outside its bytes.
    ///
    /// @return -1, as [#parse]
    public final int reject(ParseError why) {
        beforeRejection();
        release();
        error = why;
        return -1;
    }

    /// @return the index after the head; 0 if more is needed; or an error code
    private int parse(byte[] data, int end) {
        clear();
        begin(data);
        int at = parseFirstLine(data, end);
        if (at > 0) {
            at = parseHeaders(data, at, end, framing);
        }
        if (at > 0) {
            int error = finish(data);
            return error < 0 ? error : at;
        }
        return at;
    }

    /// Parses the first line.
    ///
    /// @return the index after the line; 0 if more is needed; or an error code
    abstract int parseFirstLine(byte[] data, int end);

    /// Checks the complete headers.
    ///
    /// @return an error code if they contradict each other; 0 by default
    abstract int finish(byte[] data);

    /// Copies what a log needs of a rejected head, before it is dropped.
    void beforeRejection() {}

    abstract void clearFirstLine();

    private void clear() {
        length = 0;
        error = null;
        framing.clear();
        clearFirstLine();
    }

    /// Returns why the head was rejected.
    ///
    /// @throws IllegalStateException if the last [#parse] did not reject it
    public final ParseError error() {
        return ParseError.require(error);
    }

    /// Returns the length of the head; 0 without a complete one.
    public final int length() {
        return length;
    }

    @Override
    public final void release() {
        clear();
        super.release();
    }
}
