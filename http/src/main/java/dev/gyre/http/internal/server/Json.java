package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.net.URI;
import java.nio.file.Path;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/// Makes JSON of records, maps, collections, arrays, text, numbers, truth values and null, and text of what has one form
/// that everybody reads: enums, times, UUIDs, URIs, paths.
final class Json {
    /// Deeper than this it is taken for something that holds itself.
    private static final int MOST_DEPTH = 100;

    private final StringBuilder out = new StringBuilder();

    private Json() {}

    /// @throws IllegalArgumentException if a value is of no such kind
    static String write(@Nullable Object value) {
        Json json = new Json();
        try {
            json.put(value, 0);
        } catch (Unwritable e) {
            throw e.told();
        }
        return json.out.toString();
    }

    /// A value that cannot be written. Where it is, is put together on the way back from it.
    private static final class Unwritable extends RuntimeException {
        private static final long serialVersionUID = 1;
        private static final int MOST_SHOWN = 200;

        private final String what;
        private String where = "";

        Unwritable(String what, @Nullable Throwable cause) {
            super(what, cause, false, false);
            this.what = what;
        }

        Unwritable in(String name) {
            // Not of what is nested without end, nor as a line of its own in a log.
            String inner = where.isEmpty() || where.startsWith("[") ? where : "." + where;
            String whole = name.replaceAll("\\p{Cntrl}", "?") + inner;
            where = whole.length() > MOST_SHOWN ? whole.substring(0, MOST_SHOWN) + "\u2026" : whole;
            return this;
        }

        IllegalArgumentException told() {
            String place = where.isEmpty() ? "" : where + ": ";
            return new IllegalArgumentException(place + what, getCause());
        }
    }

    private void put(@Nullable Object value, int depth) {
        if (depth > MOST_DEPTH) {
            throw new Unwritable("values are nested deeper than " + MOST_DEPTH, null);
        }
        switch (value) {
            case null -> out.append("null");
            case Boolean truth -> out.append(truth.booleanValue());
            case Number number -> putNumber(number);
            case CharSequence text -> putText(text);
            case Character character -> putText(character.toString());
            case Enum<?> constant -> putText(constant.name());
            case Optional<?> optional -> put(optional.orElse(null), depth + 1);
            case TemporalAccessor time -> putText(time.toString());
            case TemporalAmount time -> putText(time.toString());
            case UUID id -> putText(id.toString());
            case URI address -> putText(address.toString());
            // A path is also its names, one after the other.
            case Path path -> putText(path.toString());
            case Map<?, ?> map -> putMap(map, depth + 1);
            case Iterable<?> values -> putAll(values, depth + 1);
            case Record record -> putRecord(record, depth + 1);
            default -> {
                if (!value.getClass().isArray()) {
                    throw new Unwritable(
                            value.getClass().getName()
                                    + " has no JSON: use a record or a map, or set"
                                    + " HttpServer.json",
                            null);
                }
                putArray(value, depth + 1);
            }
        }
    }

    private void putNumber(Number number) {
        double value = number.doubleValue();
        boolean binary = number instanceof Double || number instanceof Float;
        if (binary && !Double.isFinite(value)) {
            throw new Unwritable("JSON has no number for " + number, null);
        }
        out.append(number);
    }

    private void putText(CharSequence text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    // Half a pair is no character, and would be none in UTF-8 either.
                    if (c < ' ' || isHalf(text, i)) {
                        out.append("\\u%04x".formatted((int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    private static boolean isHalf(CharSequence text, int at) {
        char c = text.charAt(at);
        if (Character.isHighSurrogate(c)) {
            return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        }
        return Character.isLowSurrogate(c)
                && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }

    private void putMap(Map<?, ?> map, int depth) {
        char separator = '{';
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.append(separator);
            putMember(String.valueOf(entry.getKey()), entry.getValue(), depth);
            separator = ',';
        }
        out.append(map.isEmpty() ? "{}" : "}");
    }

    private void putMember(String name, @Nullable Object value, int depth) {
        putText(name);
        out.append(':');
        try {
            put(value, depth);
        } catch (Unwritable e) {
            throw e.in(name);
        }
    }

    private void putElement(int at, @Nullable Object value, int depth) {
        if (at > 0) {
            out.append(',');
        }
        try {
            put(value, depth);
        } catch (Unwritable e) {
            throw e.in("[" + at + "]");
        }
    }

    private void putAll(Iterable<?> values, int depth) {
        out.append('[');
        int at = 0;
        for (Object value : values) {
            putElement(at++, value, depth);
        }
        out.append(']');
    }

    private void putArray(Object array, int depth) {
        out.append('[');
        for (int i = 0; i < Array.getLength(array); i++) {
            putElement(i, Array.get(array, i), depth);
        }
        out.append(']');
    }

    private void putRecord(Record record, int depth) {
        out.append('{');
        String separator = "";
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            out.append(separator);
            putMember(component.getName(), read(record, component), depth);
            separator = ",";
        }
        out.append('}');
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
                            + " HttpServer.json",
                    e);
        }
    }
}
