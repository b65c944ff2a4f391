package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// Takes chunked content apart as it comes.
///
/// ```
///          ┌──────────────────────────────────┐
///          ▼                                  │
///     size line ──▶ data ──▶ CRLF behind it ──┘
///          │ size 0
///          ▼
///      trailers ──▶ over                     from each: refused
/// ```
///
/// Lines stay unread until they are complete, so all it remembers is a state and how much of a chunk is left.
/// Pieces may be cut anywhere.
///
/// ```java
/// for (int bytes; (bytes = decoder.next(data)) > 0; ) {
///     file.write(data, bytes);
///     decoder.taken(bytes);
/// }
/// ```
///
/// **Threads.** One at a time.
public final class ChunkDecoder {
    /// More is needed.
    public static final int MORE = 0;

    /// The content is over, and its trailers are taken.
    public static final int END = -1;

    /// It is refused: [#refusal()].
    public static final int REFUSED = -2;

    /// Extensions of all chunks together: a byte with a line of them each would cost more than it brings.
    static final int MOST_EXTENSION_BYTES = 16 << 10;

    private enum State {
        SIZE,
        DATA,
        DATA_END,
        TRAILERS,
        OVER,
        REFUSED
    }

    private final int maxFields;
    private final int maxTrailerBytes;
    private final ChunkLine line = new ChunkLine();

    // Loop thread only.
    private State state = State.SIZE;
    private long left;
    private int offered;
    private int extensionBytes;
    private Headers trailers = CopiedHeaders.NONE;
    private @Nullable Refusal refusal;

    /// @param maxFields most trailer fields
    /// @param maxTrailerBytes most bytes of them, with the empty line at their end
    public ChunkDecoder(int maxFields, int maxTrailerBytes) {
        if (maxFields < 1 || maxTrailerBytes < 2) {
            throw new IllegalArgumentException(
                    "limits are at least one field and two bytes, not "
                            + maxFields
                            + ", "
                            + maxTrailerBytes);
        }
        this.maxFields = maxFields;
        this.maxTrailerBytes = maxTrailerBytes;
    }

    /// Begins anew, for other content.
    public void reset() {
        state = State.SIZE;
        left = 0;
        offered = 0;
        extensionBytes = 0;
        trailers = CopiedHeaders.NONE;
        refusal = null;
    }

    /// Takes framing up to the next content.
    ///
    /// @return how many bytes of content are readable next, as many as are there: the caller takes some or all of them
    ///     and says so by [#taken]; or [#MORE], [#END], [#REFUSED]
    public int next(Buffer data) {
        while (isFraming()) {
            int bytes = takeable(data);
            if (bytes == 0) {
                return MORE;
            }
            if (bytes > 0) {
                data.skip(bytes);
            } else {
                state = State.REFUSED;
                refusal = Refusal.of(bytes);
            }
        }
        if (state == State.DATA) {
            offered = (int) Math.min(left, data.readable());
            return offered;
        }
        return state == State.OVER ? END : REFUSED;
    }

    private boolean isFraming() {
        return state == State.SIZE || state == State.DATA_END || state == State.TRAILERS;
    }

    /// Says how much of the content was taken that [#next] spoke of.
    ///
    /// @throws IllegalArgumentException if it is more than that
    public void taken(int bytes) {
        if (bytes < 0 || bytes > offered) {
            throw new IllegalArgumentException(
                    bytes + " bytes of content were not there to take: next() said " + offered);
        }
        offered -= bytes;
        left -= bytes;
        if (left == 0 && state == State.DATA) {
            state = State.DATA_END;
        }
    }

    /// How many bytes of framing there are to take; 0 if more is needed; or the code of a refusal.
    private int takeable(Buffer data) {
        return switch (state) {
            case SIZE -> size(data);
            case DATA_END -> dataEnd(data);
            case TRAILERS -> trailers(data);
            case DATA, OVER, REFUSED -> throw new AssertionError(state);
        };
    }

    private int size(Buffer data) {
        int next = line.parse(data);
        if (next <= 0) {
            return next;
        }
        extensionBytes += line.extensionBytes();
        if (extensionBytes > MOST_EXTENSION_BYTES) {
            return Refusal.TOO_MANY_EXTENSIONS.code();
        }
        left = line.size();
        state = left == 0 ? State.TRAILERS : State.DATA;
        return next;
    }

    private int dataEnd(Buffer data) {
        int readable = data.readable();
        if (readable > 0 && data.peek(0) != Octets.CR) {
            return Refusal.BAD_CHUNK_END.code();
        }
        if (readable < 2) {
            return 0;
        }
        if (data.peek(1) != Octets.LF) {
            return Refusal.BAD_CHUNK_END.code();
        }
        state = State.SIZE;
        return 2;
    }

    private int trailers(Buffer data) {
        int readable = data.readable();
        if (readable >= 2 && data.peek(0) == Octets.CR && data.peek(1) == Octets.LF) {
            state = State.OVER; // As nearly always: without a table of fields.
            return 2;
        }
        Window window = new Window(maxTrailerBytes);
        Fields fields = new Fields(maxFields);
        window.open(data);
        int next = trailers(window, fields);
        while (next == 0 && window.widen(data)) {
            next = trailers(window, fields);
        }
        if (next == 0 && window.isFull()) {
            return Refusal.TRAILER_TOO_LARGE.code();
        }
        if (next > 0) {
            trailers = fields.copy();
            state = State.OVER;
        }
        return next;
    }

    private static int trailers(Window window, Fields fields) {
        fields.begin(window.bytes());
        return fields.parse(window.bytes(), 0, window.end(), new Framing(Framing.Section.TRAILER));
    }

    /// Why it was refused.
    ///
    /// @throws IllegalStateException if it was not
    public Refusal refusal() {
        Refusal why = refusal;
        if (why == null) {
            throw new IllegalStateException("nothing was refused: next() was not REFUSED");
        }
        return why;
    }

    /// The trailer fields, as text of their own; empty until [#END].
    public Headers trailers() {
        return trailers;
    }
}
