package dev.gyre.http.internal.body;

import dev.gyre.http.JsonMapper;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Path;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/// Writes records, maps, collections, arrays, strings, numbers, booleans and null as JSON in UTF-8.
/// Enums, times, UUIDs, URIs and paths become strings.
///
/// **Threads.** One at a time; [#MAPPER] any.
public final class JsonFormatter {
    /// The mapper of servers that have no other.
    public static final JsonMapper MAPPER =
            new JsonMapper() {
                @Override
                public byte[] write(@Nullable Object value) {
                    return JsonFormatter.write(value);
                }

                @Override
                @SuppressWarnings("TypeParameterUnusedInFormals")
                public <T> T read(byte[] json, Type type) {
                    throw new UnsupportedOperationException(
                            "the built-in JSON mapper only writes: to read JSON, add gyre-jackson"
                                    + " and pass JacksonMapper.of(…) to HttpServer.jsonMapper or"
                                    + " HttpClientConfig.withJsonMapper");
                }
            };

    /// Deeper values are assumed to contain themselves.
    private static final int MAX_DEPTH = 100;

    private static final int FIRST_BYTES = 256;
    private static final String HEX = "0123456789abcdef";

    private byte[] out = new byte[FIRST_BYTES];
    private int length;

    private JsonFormatter() {}

    /// Returns a value as JSON in UTF-8.
    ///
    /// @throws IllegalArgumentException if a value has no JSON form
    static byte[] write(@Nullable Object value) {
        JsonFormatter json = new JsonFormatter();
        try {
            json.put(value, 0);
        } catch (Unwritable e) {
            throw e.withPath();
        }
        return Arrays.copyOf(json.out, json.length);
    }

    /// A value without a JSON form. Its path is assembled while the stack unwinds.
    private static final class Unwritable extends RuntimeException {
        private static final long serialVersionUID = 1;
        private static final int MAX_PATH_LENGTH = 200;

        private final String problem;
        private String path = "";

        Unwritable(String problem, @Nullable Throwable cause) {
            super(problem, cause, false, false);
            this.problem = problem;
        }

        Unwritable in(String name) {
            // Control characters would start a new line in a log.
            String inner = path.isEmpty() || path.startsWith("[") ? path : "." + path;
            String whole = name.replaceAll("\\p{Cntrl}", "?") + inner;
            path =
                    whole.length() > MAX_PATH_LENGTH
                            ? whole.substring(0, MAX_PATH_LENGTH) + "\u2026"
                            : whole;
            return this;
        }

        IllegalArgumentException withPath() {
            String place = path.isEmpty() ? "" : path + ": ";
            return new IllegalArgumentException(place + problem, getCause());
        }
    }

    private void put(@Nullable Object value, int depth) {
        if (depth > MAX_DEPTH) {
            throw new Unwritable("values are nested deeper than " + MAX_DEPTH, null);
        }
        switch (value) {
            case null -> putAscii("null");
            case Boolean bool -> putAscii(bool.toString());
            case Number number -> putNumber(number);
            case CharSequence text -> putText(text);
            case Character character -> putText(character.toString());
            case Enum<?> constant -> putText(constant.name());
            case Optional<?> optional -> put(optional.orElse(null), depth + 1);
            case TemporalAccessor time -> putText(time.toString());
            case TemporalAmount time -> putText(time.toString());
            case UUID id -> putText(id.toString());
            case URI uri -> putText(uri.toString());
            // Before Iterable: a path also iterates over its names.
            case Path path -> putText(path.toString());
            case Map<?, ?> map -> putMap(map, depth + 1);
            case Iterable<?> values -> putAll(values, depth + 1);
            case Record record -> putRecord(record, depth + 1);
            default -> {
                if (!value.getClass().isArray()) {
                    throw new Unwritable(
                            value.getClass().getName()
                                    + " has no JSON form: use a record or a map, or set"
                                    + " HttpServer.jsonMapper",
                            null);
                }
                putArray(value, depth + 1);
            }
        }
    }

    private void putNumber(Number number) {
        boolean binary = number instanceof Double || number instanceof Float;
        if (binary && !Double.isFinite(number.doubleValue())) {
            throw new Unwritable("JSON has no number for " + number, null);
        }
        putAscii(number.toString());
    }

    private void putMap(Map<?, ?> map, int depth) {
        putByte('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            putAscii(separator);
            putMember(String.valueOf(entry.getKey()), entry.getValue(), depth);
            separator = ",";
        }
        putByte('}');
    }

    private void putMember(String name, @Nullable Object value, int depth) {
        putText(name);
        putByte(':');
        try {
            put(value, depth);
        } catch (Unwritable e) {
            throw e.in(name);
        }
    }

    private void putElement(int index, @Nullable Object value, int depth) {
        if (index > 0) {
            putByte(',');
        }
        try {
            put(value, depth);
        } catch (Unwritable e) {
            throw e.in("[" + index + "]");
        }
    }

    private void putAll(Iterable<?> values, int depth) {
        putByte('[');
        int index = 0;
        for (Object value : values) {
            putElement(index++, value, depth);
        }
        putByte(']');
    }

    private void putArray(Object array, int depth) {
        putByte('[');
        for (int i = 0; i < Array.getLength(array); i++) {
            putElement(i, Array.get(array, i), depth);
        }
        putByte(']');
    }

    private void putRecord(Record record, int depth) {
        putByte('{');
        String separator = "";
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            putAscii(separator);
            putMember(component.getName(), read(record, component), depth);
            separator = ",";
        }
        putByte('}');
    }

    private static @Nullable Object read(Record record, RecordComponent component) {
        try {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Unwritable(
                    "the component "
                            + component.getName()
                            + " of "
                            + record.getClass().getName()
                            + " cannot be read: open its package to dev.gyre.http, or set"
                            + " HttpServer.jsonMapper",
                    e);
        }
    }

    // ------------------------------------------------------------------ bytes

    private void putText(CharSequence text) {
        putByte('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> putAscii("\\\"");
                case '\\' -> putAscii("\\\\");
                case '\n' -> putAscii("\\n");
                case '\r' -> putAscii("\\r");
                case '\t' -> putAscii("\\t");
                default -> {
                    if (c >= ' ' && c < 0x80) {
                        putByte(c);
                    } else if (Character.isHighSurrogate(c)
                            && i + 1 < text.length()
                            && Character.isLowSurrogate(text.charAt(i + 1))) {
                        putPair(Character.toCodePoint(c, text.charAt(++i)));
                    } else if (c < ' ' || Character.isSurrogate(c)) {
                        putEscape(c); // UTF-8 has no form for half a surrogate pair.
                    } else {
                        putWide(c);
                    }
                }
            }
        }
        putByte('"');
    }

    private void putEscape(char c) {
        putAscii("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            putByte(HEX.charAt(c >> shift & 0xf));
        }
    }

    /// Puts a character of two or three bytes.
    private void putWide(char c) {
        if (c < 0x800) {
            putByte(0xc0 | (c >> 6));
        } else {
            putByte(0xe0 | (c >> 12));
            putByte(0x80 | ((c >> 6) & 0x3f));
        }
        putByte(0x80 | (c & 0x3f));
    }

    private void putPair(int codePoint) {
        putByte(0xf0 | (codePoint >> 18));
        putByte(0x80 | ((codePoint >> 12) & 0x3f));
        putByte(0x80 | ((codePoint >> 6) & 0x3f));
        putByte(0x80 | (codePoint & 0x3f));
    }

    private void putAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            putByte(text.charAt(i));
        }
    }

    private void putByte(int octet) {
        if (length == out.length) {
            out = Arrays.copyOf(out, 2 * length);
        }
        out[length++] = (byte) octet;
    }
}
