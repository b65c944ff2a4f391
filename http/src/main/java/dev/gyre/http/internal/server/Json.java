package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.Optional;

/// Makes JSON of records, maps, collections, arrays, text, numbers, truth values and null.
final class Json {
    /// Deeper than this it is taken for something that holds itself.
    private static final int MOST_DEPTH = 100;

    private final StringBuilder out = new StringBuilder();

    private Json() {}

    /// @throws IllegalArgumentException if a value is of no such kind
    static String write(@Nullable Object value) {
        Json json = new Json();
        json.put(value, 0);
        return json.out.toString();
    }

    private void put(@Nullable Object value, int depth) {
        if (depth > MOST_DEPTH) {
            throw new IllegalArgumentException("values are nested deeper than " + MOST_DEPTH);
        }
        switch (value) {
            case null -> out.append("null");
            case Boolean truth -> out.append(truth.booleanValue());
            case Number number -> putNumber(number);
            case CharSequence text -> putText(text);
            case Character character -> putText(character.toString());
            case Enum<?> constant -> putText(constant.name());
            case Optional<?> optional -> put(optional.orElse(null), depth + 1);
            case Map<?, ?> map -> putMap(map, depth + 1);
            case Iterable<?> values -> putAll(values, depth + 1);
            case Record record -> putRecord(record, depth + 1);
            default -> {
                if (!value.getClass().isArray()) {
                    throw new IllegalArgumentException(
                            value.getClass().getName()
                                    + " has no JSON: use a record or a map, or set"
                                    + " HttpServer.json");
                }
                putArray(value, depth + 1);
            }
        }
    }

    private void putNumber(Number number) {
        double value = number.doubleValue();
        boolean binary = number instanceof Double || number instanceof Float;
        if (binary && !Double.isFinite(value)) {
            throw new IllegalArgumentException("JSON has no number for " + number);
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
            putText(String.valueOf(entry.getKey()));
            out.append(':');
            put(entry.getValue(), depth);
            separator = ',';
        }
        out.append(map.isEmpty() ? "{}" : "}");
    }

    private void putAll(Iterable<?> values, int depth) {
        out.append('[');
        String separator = "";
        for (Object value : values) {
            out.append(separator);
            put(value, depth);
            separator = ",";
        }
        out.append(']');
    }

    private void putArray(Object array, int depth) {
        out.append('[');
        for (int i = 0; i < Array.getLength(array); i++) {
            if (i > 0) {
                out.append(',');
            }
            put(Array.get(array, i), depth);
        }
        out.append(']');
    }

    private void putRecord(Record record, int depth) {
        out.append('{');
        String separator = "";
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            out.append(separator);
            putText(component.getName());
            out.append(':');
            put(read(record, component), depth);
            separator = ",";
        }
        out.append('}');
    }

    private static @Nullable Object read(Record record, RecordComponent component) {
        try {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new IllegalArgumentException(
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
