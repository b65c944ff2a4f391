package dev.gyre.http;

import java.util.Objects;

/// What middleware finds out about a request and handlers want to know, such as who asks.
///
/// ```java
/// static final Attribute<User> USER = Attribute.of("user");
///
/// server.use((request, response, next) -> next.handle(request.set(USER, userOf(request)), response))
///     .get("/me", (request, response) -> response.json(request.get(USER)));
/// ```
///
/// Each is only itself, whatever its name: keep it in a constant that both sides see.
///
/// **Threads.** Any; what is set belongs to the request: see [Request].
///
/// @param <T> of what is set
@SuppressWarnings("UnusedTypeParameter") // Request.get and set use it.
public final class Attribute<T> {
    private final String name;

    private Attribute(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    /// A new one.
    ///
    /// @param name for people
    public static <T> Attribute<T> of(String name) {
        return new Attribute<>(name);
    }

    /// Its name.
    @Override
    public String toString() {
        return name;
    }
}
