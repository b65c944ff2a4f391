package dev.gyre.http;

import dev.gyre.http.internal.body.JsonFormatter;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Type;

/// Converts values to JSON and back, for [Response#json], [Body#json(Class)] and the HTTP client.
///
/// ```java
/// server.jsonMapper(JacksonMapper.of(new ObjectMapper())); // from gyre-jackson
/// ```
///
/// The default of a server only writes: see [#writeOnly()].
///
/// **Threads.** Any, several at a time. The methods must not block.
public interface JsonMapper {
    /// Returns a value as JSON in UTF-8.
    ///
    /// @throws RuntimeException if the value has no JSON form; the response is then 500
    byte[] write(@Nullable Object value);

    /// Reads a value of a type.
    ///
    /// @param json a JSON text in UTF-8
    /// @throws JsonException if the bytes are not JSON, or the JSON does not fit the type; its
    ///     message is sent to the client
    /// @throws RuntimeException if the type is unsuitable; the response is then 500
    @SuppressWarnings("TypeParameterUnusedInFormals") // A Type has no type parameter.
    <T> T read(byte[] json, Type type);

    /// Returns the built-in mapper. It writes records, maps, collections, arrays, strings, numbers,
    /// booleans and null. Enums, times, UUIDs, URIs and paths become strings. `read` throws an
    /// [UnsupportedOperationException] that names the remedy.
    static JsonMapper writeOnly() {
        return JsonFormatter.MAPPER;
    }
}
