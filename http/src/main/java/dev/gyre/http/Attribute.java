package dev.gyre.http;

import java.util.Objects;

/// A typed key for data that middleware attaches to a request, such as the user.
///
/// ```java
/// static final Attribute<User> USER = Attribute.of("user");
///
/// server.use((request, response, next) ->
///             next.handle(request.set(USER, userOf(request)), response))
///     .get("/me", (request, response) -> response.json(request.get(USER)));
/// ```
///
/// Attributes are compared by identity, not by name. Keep each in a constant.
///
/// **Threads.** Any.
///
/// @param <T> the type of the value
@SuppressWarnings("UnusedTypeParameter") // Request.get and set use it.
public final class Attribute<T> {
    private final String name;

    private Attribute(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    /// Returns a new attribute.
    ///
    /// @param name for debugging
    public static <T> Attribute<T> of(String name) {
        return new Attribute<>(name);
    }

    /// Returns the name.
    @Override
    public String toString() {
        return name;
    }
}
