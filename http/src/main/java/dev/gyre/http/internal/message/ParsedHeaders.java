package dev.gyre.http.internal.message;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// The headers or trailers of a message, as offsets of their names and values. Text is created when
/// a value is read.
///
/// **Threads.** One at a time.
sealed class ParsedHeaders implements Headers permits MessageHead {
    /// The start and end of a name, and of its value.
    private static final int OFFSETS = 4;

    private static final int TYPICAL_COUNT = 16;

    private final int maxCount;

    // Loop thread only.
    private int[] offsets;
    private int count;
    private byte @Nullable [] bytes;
    private boolean kept;

    ParsedHeaders(int maxCount) {
        this.maxCount = maxCount;
        this.offsets = new int[OFFSETS * Math.min(TYPICAL_COUNT, maxCount)];
    }

    /// Drops the headers, and sets the bytes of the next ones.
    final void begin(byte[] data) {
        count = 0;
        bytes = data;
    }

    /// Parses headers up to the empty line after them.
    ///
    /// @param end the index after the last available byte
    /// @return the index after the empty line; 0 if more is needed; or an error code
    final int parseHeaders(byte[] data, int from, int end, Framing framing) {
        int at = from;
        while (at < end) {
            int colon = ByteScan.firstNot(ByteScan.TOKEN, data, at, end);
            if (colon == at && data[at] == ByteScan.CR) {
                return ByteScan.lineEnd(data, at, end);
            }
            at = parseLine(data, at, colon, end, framing);
            if (at <= 0) {
                return at;
            }
        }
        return 0;
    }

    private int parseLine(byte[] data, int at, int colon, int end, Framing framing) {
        if (count == maxCount) {
            return ParseError.TOO_MANY_HEADERS.code();
        }
        if (colon == end) {
            return 0;
        }
        long word = ByteScan.word(data, colon, end);
        if (colon == at || word >>> 56 != ':') {
            return nameError(data, at, colon);
        }
        int valueAt = colon + 1;
        if (ByteScan.isSpace((byte) (word >>> 48))) {
            valueAt++;
            if (ByteScan.isSpace((byte) (word >>> 40))) {
                valueAt = ByteScan.skipSpace(data, valueAt, end);
            }
        }
        int cr = ByteScan.firstControl(data, valueAt, end);
        int next = ByteScan.textEnd(data, cr, end);
        if (next <= 0) {
            return next;
        }
        int valueEnd = ByteScan.trimSpace(data, valueAt, cr);
        add(at, colon, valueAt, valueEnd);
        Framing.Name known = Framing.Name.of(data, at, colon);
        int error = known == Framing.Name.OTHER ? 0 : framing.add(known, data, valueAt, valueEnd);
        return error < 0 ? error : next;
    }

    private int nameError(byte[] data, int at, int stop) {
        byte wrong = data[stop];
        if (stop > at) {
            return switch (wrong) {
                case ByteScan.SPACE, ByteScan.TAB -> ParseError.SPACE_AFTER_NAME.code();
                case ByteScan.CR, ByteScan.LF -> ParseError.MISSING_COLON.code();
                default -> ParseError.BAD_NAME.code();
            };
        }
        return switch (wrong) {
            case ByteScan.SPACE, ByteScan.TAB ->
                    (count == 0 ? ParseError.SPACE_BEFORE_HEADERS : ParseError.FOLDED_HEADER)
                            .code();
            case ByteScan.LF -> ParseError.BARE_LF.code();
            case ':' -> ParseError.EMPTY_NAME.code();
            default -> ParseError.BAD_NAME.code();
        };
    }

    private void add(int nameAt, int nameEnd, int valueAt, int valueEnd) {
        int at = OFFSETS * count;
        if (at == offsets.length) {
            offsets = Arrays.copyOf(offsets, OFFSETS * Math.min(2 * count, maxCount));
        }
        offsets[at] = nameAt;
        offsets[at + 1] = nameEnd;
        offsets[at + 2] = valueAt;
        offsets[at + 3] = valueEnd;
        count++;
    }

    /// @param at the start of the value to replace
    final void replaceValue(int at, int from, int to) {
        for (int header = 0; header < OFFSETS * count; header += OFFSETS) {
            if (offsets[header + 2] == at) {
                offsets[header + 2] = from;
                offsets[header + 3] = to;
            }
        }
    }

    /// Keeps everything until [#release()], for a message that is handled later. Meanwhile this
    /// object parses no other message. Idempotent.
    ///
    /// @throws IllegalStateException without a complete head
    public final void keep() {
        byte[] _ = bytes();
        kept = true;
    }

    final boolean isKept() {
        return kept;
    }

    /// Drops everything, so that another message can be parsed. Idempotent.
    public void release() {
        bytes = null;
        count = 0;
        kept = false;
    }

    final byte[] bytes() {
        byte[] present = bytes;
        if (present == null) {
            throw new IllegalStateException(
                    "there is no head: it was released, or parse() did not complete one");
        }
        return present;
    }

    final String slice(int from, int to) {
        return new String(bytes(), from, to - from, ISO_8859_1);
    }

    @Override
    public final @Nullable String get(String name) {
        int at = next(name, 0);
        return at < 0 ? null : value(at);
    }

    @Override
    public final List<String> getAll(String name) {
        List<String> values = new ArrayList<>();
        for (int at = next(name, 0); at >= 0; at = next(name, at + OFFSETS)) {
            values.add(value(at));
        }
        return List.copyOf(values);
    }

    @Override
    public final boolean contains(String name) {
        return next(name, 0) >= 0;
    }

    /// Returns the offset of the value of the first header of that name; 0 if absent.
    public final int valueAt(String name) {
        int at = next(name, 0);
        return at < 0 ? 0 : offsets[at + 2];
    }

    /// Returns the offset of the end of that value; 0 if absent.
    public final int valueEnd(String name) {
        int at = next(name, 0);
        return at < 0 ? 0 : offsets[at + 3];
    }

    @Override
    public final boolean containsToken(String name, String token) {
        Objects.requireNonNull(token, "token");
        for (int at = next(name, 0); at >= 0; at = next(name, at + OFFSETS)) {
            if (hasElement(bytes(), offsets[at + 2], offsets[at + 3], token)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasElement(byte[] data, int from, int end, String token) {
        int at = from;
        while (at < end) {
            int comma = Framing.elementEnd(data, at, end);
            int first = ByteScan.skipSpace(data, at, comma);
            if (ByteScan.is(data, first, ByteScan.trimSpace(data, first, comma), token)) {
                return true;
            }
            at = comma + 1;
        }
        return false;
    }

    @Override
    public final int size() {
        return count;
    }

    @Override
    public final void forEach(BiConsumer<? super String, ? super String> header) {
        Objects.requireNonNull(header, "header");
        for (int at = 0; at < OFFSETS * count; at += OFFSETS) {
            header.accept(slice(offsets[at], offsets[at + 1]), value(at));
        }
    }

    /// Returns a copy that needs no release.
    public final Headers copy() {
        List<String> texts = new ArrayList<>(2 * count);
        forEach(
                (name, value) -> {
                    texts.add(name);
                    texts.add(value);
                });
        return CopiedHeaders.of(texts);
    }

    /// Returns the index of the offsets of the next header of that name; -1 if absent.
    private int next(String name, int from) {
        int length = name.length();
        for (int at = from; at < OFFSETS * count; at += OFFSETS) {
            int nameAt = offsets[at];
            int nameEnd = offsets[at + 1];
            if (nameEnd - nameAt == length && ByteScan.is(bytes(), nameAt, nameEnd, name)) {
                return at;
            }
        }
        return -1;
    }

    private String value(int at) {
        return slice(offsets[at + 2], offsets[at + 3]);
    }
}
