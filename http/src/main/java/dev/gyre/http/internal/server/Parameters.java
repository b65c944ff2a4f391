package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Texts;

import org.jspecify.annotations.Nullable;

import java.util.function.Function;

/// Parses parameters of requests. An invalid value gets 400, with a message that names the
/// parameter and the expected values.
public final class Parameters {
    private Parameters() {}

    /// Returns the number that a parameter contains.
    ///
    /// @param kind such as `query parameter`
    /// @throws HttpException 400 if the text is not a number from `min` to `max`
    public static long number(String kind, String name, String text, long min, long max) {
        try {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below, as a number out of range is.
        }
        boolean bounded = min != Long.MIN_VALUE || max != Long.MAX_VALUE;
        String expected =
                bounded ? "a number from " + min + " to " + max : "a whole number of 64 bits";
        throw invalid(kind, name, "must be " + expected, text);
    }

    /// Returns the boolean that a parameter contains.
    ///
    /// @throws HttpException 400 if the text is neither `true` nor `false`, nor empty for true
    public static boolean bool(String kind, String name, String text) {
        return switch (text) {
            case "true", "" -> true;
            case "false" -> false;
            default -> throw invalid(kind, name, "must be true or false", text);
        };
    }

    /// Returns the result of a parser.
    ///
    /// @throws HttpException 400 if the parser throws
    public static <T extends @Nullable Object> T parse(
            String kind, String name, String text, Function<? super String, ? extends T> parser) {
        try {
            return parser.apply(text);
        } catch (HttpException known) {
            throw known;
        } catch (RuntimeException e) {
            // Not its message, which may name classes of the server.
            throw invalid(kind, name, "is invalid", text);
        }
    }

    private static HttpException invalid(String kind, String name, String problem, String text) {
        String but = problem.equals("is invalid") ? ": " : ", but is ";
        String message = kind + " " + name + " " + problem + but + Texts.shown(text);
        return new HttpException(400, message).withError(name, problem);
    }
}
