package dev.gyre.jackson;

import org.jspecify.annotations.Nullable;

import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;
import tools.jackson.databind.exc.InvalidNullException;
import tools.jackson.databind.exc.InvalidTypeIdException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.PropertyBindingException;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.temporal.Temporal;
import java.time.temporal.TemporalAmount;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/// Describes failures of Jackson in words of JSON. Messages of Jackson name classes, and quote the
/// input.
final class Problems {
    private static final int MAX_CONSTANTS = 20;

    private static final Set<Class<?>> WHOLE_NUMBERS =
            Set.of(
                    byte.class,
                    Byte.class,
                    short.class,
                    Short.class,
                    int.class,
                    Integer.class,
                    long.class,
                    Long.class,
                    BigInteger.class);

    private static final Set<Class<?>> NUMBERS =
            Set.of(
                    float.class,
                    Float.class,
                    double.class,
                    Double.class,
                    Number.class,
                    BigDecimal.class);

    private static final Set<Class<?>> BOOLEANS = Set.of(boolean.class, Boolean.class);
    private static final Set<Class<?>> CHARACTERS = Set.of(char.class, Character.class);

    private Problems() {}

    /// Returns the field, such as `items[2].price`; empty for the whole text.
    static String path(JacksonException failure) {
        StringBuilder path = new StringBuilder();
        for (JacksonException.Reference each : failure.getPath()) {
            String name = each.getPropertyName();
            if (name == null) {
                path.append('[').append(each.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(name);
            }
        }
        return path.toString();
    }

    static String describe(JacksonException failure) {
        return switch (failure) {
            case InvalidNullException _ -> "a value is required, not null";
            case PropertyBindingException _ -> "unknown field";
            case InvalidTypeIdException _ -> "unknown type";
            case MismatchedInputException mismatch -> expected(mismatch);
            case InputCoercionException _ -> "the number is out of range";
            case UnexpectedEndOfInputException _ -> "the JSON ends too early";
            case StreamConstraintsException _ -> "the JSON is nested too deep, or a value too long";
            case StreamReadException malformed -> "malformed JSON" + place(malformed.getLocation());
            default -> "invalid value"; // Such as a constructor that throws.
        };
    }

    private static String place(@Nullable TokenStreamLocation location) {
        return location == null || location.getLineNr() < 1
                ? ""
                : " at line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    private static String expected(MismatchedInputException mismatch) {
        Class<?> type = mismatch.getTargetType();
        if (mismatch.getCurrentToken() == JsonToken.END_OBJECT) {
            return "a value is required"; // The object has ended without it.
        }
        return type == null ? "invalid value" : "expected " + kind(type);
    }

    private static String kind(Class<?> type) {
        if (WHOLE_NUMBERS.contains(type)) {
            return "a whole number in range";
        } else if (NUMBERS.contains(type)) {
            return "a number";
        } else if (BOOLEANS.contains(type)) {
            return "true or false";
        } else if (CHARACTERS.contains(type)) {
            return "a string of one character";
        } else if (CharSequence.class.isAssignableFrom(type)) {
            return "a string";
        } else if (type.isEnum()) {
            return "one of "
                    + Arrays.stream(type.getEnumConstants())
                            .limit(MAX_CONSTANTS)
                            .map(String::valueOf)
                            .collect(Collectors.joining(", "));
        } else if (type == UUID.class) {
            return "a UUID";
        } else if (Temporal.class.isAssignableFrom(type) || Date.class.isAssignableFrom(type)) {
            return "a date or time in ISO 8601";
        } else if (TemporalAmount.class.isAssignableFrom(type)) {
            return "a duration in ISO 8601";
        } else if (type.isArray() || Collection.class.isAssignableFrom(type)) {
            return "an array";
        }
        return type == Optional.class || type.getName().startsWith("java.")
                ? "another kind of value"
                : "an object";
    }
}
