package dev.gyre.http;

import org.jspecify.annotations.Nullable;

/// Thrown by a [JsonMapper] if a JSON text is malformed or does not fit the requested type.
///
/// The path and the problem are sent to the client, so they name JSON fields only, never classes.
public final class JsonException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String path;
    private final String problem;

    /// Creates an exception.
    ///
    /// @param path the field, such as `items[2].price`; empty for the whole text
    /// @param problem such as `expected a number`
    /// @param cause for logs; `null` if absent
    public JsonException(String path, String problem, @Nullable Throwable cause) {
        super(path.isEmpty() ? problem : path + ": " + problem, cause);
        this.path = path;
        this.problem = problem;
    }

    /// Returns the field, such as `items[2].price`; empty for the whole text.
    public String path() {
        return path;
    }

    /// Returns the problem, such as `expected a number`.
    public String problem() {
        return problem;
    }
}
