package dev.gyre.jackson;

import dev.gyre.http.JsonException;
import dev.gyre.http.JsonMapper;

import org.jspecify.annotations.Nullable;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.exc.InvalidDefinitionException;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/// Reads and writes JSON by Jackson 3.
///
/// ```java
/// record Todo(long id, String text, boolean done) {}
///
/// HttpServer.on(loop)
///     .jsonMapper(JacksonMapper.of(new ObjectMapper()))
///     .post("/todos", (request, response) ->
///             request.body().json(Todo.class).then(todo -> response.json(todos.add(todo))));
/// ```
///
/// JSON that does not fit becomes a [JsonException]. It names the field and the expected kind of
/// value, and contains no names of classes and no text of Jackson. A type that Jackson cannot read
/// at all is an error of the server.
///
/// **Threads.** Any.
public final class JacksonMapper implements JsonMapper {
    private final ObjectMapper mapper;
    private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();

    private JacksonMapper(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /// Returns a mapper that uses the given one with its configuration.
    public static JacksonMapper of(ObjectMapper mapper) {
        return new JacksonMapper(Objects.requireNonNull(mapper, "mapper"));
    }

    @Override
    public byte[] write(@Nullable Object value) {
        return mapper.writeValueAsBytes(value);
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // As in JsonMapper.
    public <T> T read(byte[] json, Type type) {
        ObjectReader reader =
                readers.computeIfAbsent(type, each -> mapper.readerFor(mapper.constructType(each)));
        try {
            return reader.readValue(json);
        } catch (InvalidDefinitionException e) {
            throw new IllegalArgumentException(
                    "Jackson cannot read " + type.getTypeName() + ": " + e.getOriginalMessage(), e);
        } catch (JacksonException e) {
            throw new JsonException(Problems.path(e), Problems.describe(e), e);
        }
    }
}
