package dev.gyre.http.internal.message;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// The fields of a head or a trailer: where in the bytes their names and values are.
///
/// **Threads.** One at a time.
final class Fields implements Headers {
    /// For each field: where its name begins and ends, and its value.
    private static final int PLACES = 4;

    private static final int USUAL_FIELDS = 16;

    private final int maxFields;

    // Loop thread only.
    private int[] places;
    private int count;
    private byte @Nullable [] bytes;
    private boolean kept;

    Fields(int maxFields) {
        this.maxFields = maxFields;
        this.places = new int[PLACES * Math.min(USUAL_FIELDS, maxFields)];
    }

    // ------------------------------------------------------------------ parsing

    /// Forgets what was here for bytes that are to be parsed.
    void begin(byte[] data) {
        count = 0;
        bytes = data;
    }

    /// Reads fields up to the empty line after them.
    ///
    /// @param end behind the last byte that may be looked at
    /// @return behind the empty line; 0 if the end came before; or the code of a refusal
    int parse(byte[] data, int from, int end, Framing framing) {
        int at = from;
        while (at < end) {
            int colon = Octets.firstNot(Octets.TOKEN, data, at, end);
            if (colon == at && data[at] == Octets.CR) {
                return Octets.lineEnd(data, at, end);
            }
            at = line(data, at, colon, end, framing);
            if (at <= 0) {
                return at;
            }
        }
        return 0;
    }

    private int line(byte[] data, int at, int colon, int end, Framing framing) {
        if (count == maxFields) {
            return Refusal.TOO_MANY_FIELDS.code();
        }
        if (colon == end) {
            return 0;
        }
        long word = Octets.word(data, colon, end);
        if (colon == at || word >>> 56 != ':') {
            return badName(data, at, colon);
        }
        int valueAt = colon + 1;
        if (Octets.isSpace((byte) (word >>> 48))) {
            valueAt++;
            if (Octets.isSpace((byte) (word >>> 40))) {
                valueAt = Octets.skipSpace(data, valueAt, end);
            }
        }
        int cr = Octets.firstControl(data, valueAt, end);
        int next = Octets.textEnd(data, cr, end);
        if (next <= 0) {
            return next;
        }
        int valueEnd = Octets.trimSpace(data, valueAt, cr);
        add(at, colon, valueAt, valueEnd);
        KnownField known = KnownField.of(data, at, colon);
        int refused = known == KnownField.NONE ? 0 : framing.take(known, data, valueAt, valueEnd);
        return refused < 0 ? refused : next;
    }

    private int badName(byte[] data, int at, int stop) {
        byte wrong = data[stop];
        if (stop > at) {
            return switch (wrong) {
                case Octets.SPACE, Octets.TAB -> Refusal.SPACE_AFTER_NAME.code();
                case Octets.CR, Octets.LF -> Refusal.MISSING_COLON.code();
                default -> Refusal.BAD_NAME.code();
            };
        }
        return switch (wrong) {
            case Octets.SPACE, Octets.TAB ->
                    (count == 0 ? Refusal.SPACE_BEFORE_FIELDS : Refusal.FOLDED_FIELD).code();
            case Octets.LF -> Refusal.BARE_LF.code();
            case ':' -> Refusal.EMPTY_NAME.code();
            default -> Refusal.BAD_NAME.code();
        };
    }

    private void add(int nameAt, int nameEnd, int valueAt, int valueEnd) {
        int at = PLACES * count;
        if (at == places.length) {
            places = Arrays.copyOf(places, PLACES * Math.min(2 * count, maxFields));
        }
        places[at] = nameAt;
        places[at + 1] = nameEnd;
        places[at + 2] = valueAt;
        places[at + 3] = valueEnd;
        count++;
    }

    /// Replaces a value.
    ///
    /// @param at where the value begins
    void replaceValue(int at, int from, int to) {
        for (int field = 0; field < PLACES * count; field += PLACES) {
            if (places[field + 2] == at) {
                places[field + 2] = from;
                places[field + 3] = to;
            }
        }
    }

    // ------------------------------------------------------------------ the bytes

    /// Holds on to the bytes until [#release].
    void keep() {
        byte[] _ = bytes();
        kept = true;
    }

    boolean isKept() {
        return kept;
    }

    void requireNotKept() {
        if (kept) {
            throw new IllegalStateException(
                    "a head that is kept cannot be parsed into: release() it before");
        }
    }

    /// Forgets everything.
    void release() {
        bytes = null;
        count = 0;
        kept = false;
    }

    byte[] bytes() {
        byte[] present = bytes;
        if (present == null) {
            throw new IllegalStateException(
                    "there is no head: it was released, or parse() did not complete one");
        }
        return present;
    }

    /// A part of the bytes as text.
    String text(int from, int to) {
        return new String(bytes(), from, to - from, ISO_8859_1);
    }

    // ------------------------------------------------------------------ the fields

    @Override
    public @Nullable String get(String name) {
        int at = next(name, 0);
        return at < 0 ? null : value(at);
    }

    @Override
    public List<String> all(String name) {
        List<String> values = new ArrayList<>();
        for (int at = next(name, 0); at >= 0; at = next(name, at + PLACES)) {
            values.add(value(at));
        }
        return List.copyOf(values);
    }

    @Override
    public boolean contains(String name) {
        return next(name, 0) >= 0;
    }

    @Override
    public boolean lists(String name, String token) {
        Objects.requireNonNull(token, "token");
        for (int at = next(name, 0); at >= 0; at = next(name, at + PLACES)) {
            if (hasElement(bytes(), places[at + 2], places[at + 3], token)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasElement(byte[] data, int from, int end, String token) {
        int at = from;
        while (at < end) {
            int comma = Framing.elementEnd(data, at, end);
            int first = Octets.skipSpace(data, at, comma);
            if (Octets.is(data, first, Octets.trimSpace(data, first, comma), token)) {
                return true;
            }
            at = comma + 1;
        }
        return false;
    }

    @Override
    public int size() {
        return count;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> field) {
        Objects.requireNonNull(field, "field");
        for (int at = 0; at < PLACES * count; at += PLACES) {
            field.accept(text(places[at], places[at + 1]), value(at));
        }
    }

    /// An independent copy.
    Headers copy() {
        if (count == 0) {
            return CopiedHeaders.NONE;
        }
        String[] texts = new String[2 * count];
        for (int i = 0; i < count; i++) {
            texts[2 * i] = text(places[PLACES * i], places[PLACES * i + 1]);
            texts[2 * i + 1] = value(PLACES * i);
        }
        return new CopiedHeaders(texts);
    }

    /// Where the next field of a name has its places; -1 if there is none.
    private int next(String name, int from) {
        int length = name.length();
        for (int at = from; at < PLACES * count; at += PLACES) {
            int nameAt = places[at];
            int nameEnd = places[at + 1];
            if (nameEnd - nameAt == length && Octets.is(bytes(), nameAt, nameEnd, name)) {
                return at;
            }
        }
        return -1;
    }

    private String value(int at) {
        return text(places[at + 2], places[at + 3]);
    }
}
