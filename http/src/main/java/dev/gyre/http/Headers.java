package dev.gyre.http;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BiConsumer;

/// The header fields of a message, or its trailer fields, as they arrived. Names are compared without regard to case.
///
/// Text is made of a field when it is asked for; of those nobody asks for, none is.
public interface Headers {
    /// The value of the first field of that name, without white space around it; null if there is none.
    @Nullable String get(String name);

    /// The values of all fields of that name, in their order.
    List<String> all(String name);

    /// Whether there is a field of that name.
    boolean contains(String name);

    /// Whether a field of that name lists a token, as `Connection: keep-alive, Upgrade` does, without regard to case.
    boolean lists(String name, String token);

    /// How many fields there are.
    int size();

    /// Calls back for each field, in their order.
    void forEach(BiConsumer<? super String, ? super String> field);
}
