package dev.gyre.internal.os;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/// Splits input into chunks for the user. Between two chunks the user may pause or close the input,
/// or throw.
///
/// Loop thread only.
public sealed interface Chunker {
    /// Adds bytes. Called only when the previous buffer is used up; the chunker owns it until then.
    void add(ByteBuffer bytes);

    void end();

    boolean hasNext();

    /// Delivers one chunk. It is consumed even if the user throws.
    void deliverNext();

    /// Returns whether a chunk exceeds the maximum length; then none is ready.
    boolean isTooLong();

    final class Bytes implements Chunker {
        private final Consumer<? super ByteBuffer> user;

        // Loop thread only.
        private @Nullable ByteBuffer next;

        public Bytes(Consumer<? super ByteBuffer> user) {
            this.user = user;
        }

        @Override
        public void add(ByteBuffer bytes) {
            next = bytes.hasRemaining() ? bytes : null;
        }

        @Override
        public void end() {}

        @Override
        public boolean hasNext() {
            return next != null;
        }

        @Override
        public void deliverNext() {
            ByteBuffer bytes = next;
            assert bytes != null : "no chunk is ready";
            next = null;
            user.accept(bytes);
        }

        @Override
        public boolean isTooLong() {
            return false;
        }
    }

    /// Delivers lines. A line is assembled as bytes and decoded as a whole, so buffers may end
    /// anywhere: no byte of a longer UTF-8 character equals a line feed.
    final class Lines implements Chunker {
        /// The buffer of incomplete lines is released after a line longer than this.
        private static final int MAX_RETAINED_BYTES = 1 << 13;

        private static final int NONE = -1;

        private final Consumer<? super String> user;
        private final int maxBytes;

        // Loop thread only.
        private ByteBuffer input = ByteBuffer.allocate(0);

        /// The index of the line feed that ends the next line, if known.
        private int lineFeed = NONE;

        /// The start of a line whose end has not arrived.
        private ByteArrayOutputStream partial = new ByteArrayOutputStream();

        /// Whether the partial line ends with a carriage return, which may belong to the
        /// terminator.
        private boolean endsWithReturn;

        private boolean ended;
        private boolean tooLong;

        public Lines(Consumer<? super String> user, int maxBytes) {
            this.user = user;
            this.maxBytes = maxBytes;
        }

        @Override
        public void add(ByteBuffer bytes) {
            input = bytes;
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
            if (tooLong) {
                return false;
            }
            lineFeed = findLineFeed();
            if (lineFeed != NONE) {
                tooLong = partialBytes() + lineBytes() > maxBytes;
            } else {
                // One more byte, which may be the carriage return of the terminator.
                tooLong = partial.size() + input.remaining() > maxBytes + (ended ? 0 : 1);
            }
            if (tooLong) {
                lineFeed = NONE;
                return false;
            }
            if (lineFeed == NONE) {
                append(input.remaining());
            }
            return lineFeed != NONE || (ended && partial.size() > 0);
        }

        private int findLineFeed() {
            for (int i = input.position(); i < input.limit(); i++) {
                if (input.get(i) == '\n') {
                    return i;
                }
            }
            return NONE;
        }

        /// Returns the bytes of the input that belong to the line, without its terminator.
        private int lineBytes() {
            int length = lineFeed - input.position();
            return length > 0 && input.get(lineFeed - 1) == '\r' ? length - 1 : length;
        }

        /// Returns the bytes of the partial line without its terminator, which two buffers may
        /// split.
        private int partialBytes() {
            return endsWithReturn && lineFeed == input.position()
                    ? partial.size() - 1
                    : partial.size();
        }

        private void append(int count) {
            if (count > 0) {
                byte[] bytes = new byte[count];
                input.get(bytes);
                partial.writeBytes(bytes);
                endsWithReturn = bytes[count - 1] == '\r';
            }
        }

        @Override
        public void deliverNext() {
            int length = partial.size();
            if (lineFeed != NONE) {
                int next = lineFeed + 1;
                length = partialBytes() + lineBytes();
                append(lineBytes());
                input.position(next);
                lineFeed = NONE;
            }
            String line = new String(partial.toByteArray(), 0, length, StandardCharsets.UTF_8);
            if (partial.size() > MAX_RETAINED_BYTES) {
                partial = new ByteArrayOutputStream();
            } else {
                partial.reset();
            }
            endsWithReturn = false;
            user.accept(line);
        }

        @Override
        public boolean isTooLong() {
            return tooLong;
        }
    }
}
