package dev.gyre.http;

import dev.gyre.http.internal.body.FormValues;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Set;

/// The text fields of a form. Immutable.
///
/// ```java
/// request.body().form().then(form -> login(form.require("user"), form.require("password")));
/// ```
///
/// **Threads.** Any.
public sealed interface FormData permits FormValues {
    /// Returns the first value of a field; `null` if absent.
    @Nullable String get(String name);

    /// Returns the first value of a field. For a field that may be empty use [#get].
    ///
    /// @throws HttpException 400 with the name of the field if it is absent or empty
    String require(String name);

    /// Returns all values of a field, in their order; empty if absent.
    List<String> getAll(String name);

    /// Returns the first value of a field as a number.
    ///
    /// @param defaultValue returned if the field is absent or empty
    /// @throws HttpException 400 with the name of the field if it is not a number, or not from
    ///     `min` to `max`
    long getLong(String name, long defaultValue, long min, long max);

    /// Returns the names of all fields, in their order.
    Set<String> names();

    /// Returns whether a field is present.
    boolean contains(String name);
}
