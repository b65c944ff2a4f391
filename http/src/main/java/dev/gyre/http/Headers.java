package dev.gyre.http;

import dev.gyre.http.internal.message.CopiedHeaders;
import dev.gyre.http.internal.message.HeaderList;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// The headers of a message, or its trailers. Names are compared without regard to case.
///
/// ```java
/// var headers = Headers.of("Accept", "application/json", "X-Request-Id", id);
/// ```
///
/// Headers of a request decode a value when it is read. They are valid as long as the request is.
/// Headers from [#of], [#with] and a [Builder] are immutable.
public interface Headers {
    /// Returns headers of alternating names and values.
    ///
    /// @throws IllegalArgumentException if a value is missing, or a name or value is invalid
    static Headers of(String... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException(
                    "the last header has no value: pass names and values alternately");
        }
        if (namesAndValues.length == 0) {
            return CopiedHeaders.NONE;
        }
        Builder builder = builder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            builder.add(namesAndValues[i], namesAndValues[i + 1]);
        }
        return builder.build();
    }

    /// Returns a builder without headers.
    static Builder builder() {
        return new Builder();
    }

    /// Returns the value of the first header of that name, without surrounding white space; `null`
    /// if absent.
    @Nullable String get(String name);

    /// Returns the values of all headers of that name, in their order.
    List<String> getAll(String name);

    /// Returns whether a header of that name is present.
    default boolean contains(String name) {
        return get(name) != null;
    }

    /// Returns whether a header of that name lists a token, as `Connection: keep-alive, Upgrade`
    /// does. Tokens are compared without regard to case.
    default boolean containsToken(String name, String token) {
        Objects.requireNonNull(token, "token");
        return getAll(name).stream().anyMatch(value -> HeaderList.listsToken(value, token));
    }

    /// Returns the number of headers.
    int size();

    /// Calls back for each header, in their order.
    void forEach(BiConsumer<? super String, ? super String> header);

    /// Returns a copy with a header that replaces those of the same name.
    ///
    /// @throws IllegalArgumentException if name or value are invalid
    default Headers with(String name, String value) {
        Builder builder = builder();
        forEach(builder::addChecked);
        return builder.set(name, value).build();
    }

    /// Builds immutable headers.
    ///
    /// **Threads.** One at a time.
    final class Builder {
        private final List<String> texts = new ArrayList<>();

        private Builder() {}

        /// Adds a header after those of the same name.
        ///
        /// @throws IllegalArgumentException if name or value are invalid
        public Builder add(String name, String value) {
            HeaderList.requireName(name);
            HeaderList.requireValue(name, value);
            addChecked(name, value);
            return this;
        }

        private void addChecked(String name, String value) {
            texts.add(name);
            texts.add(value);
        }

        /// Adds a header in place of those of the same name.
        ///
        /// @throws IllegalArgumentException if name or value are invalid
        public Builder set(String name, String value) {
            HeaderList.requireName(name);
            HeaderList.requireValue(name, value);
            for (int i = texts.size() - 2; i >= 0; i -= 2) {
                if (texts.get(i).equalsIgnoreCase(name)) {
                    texts.subList(i, i + 2).clear();
                }
            }
            addChecked(name, value);
            return this;
        }

        /// Returns the headers added so far.
        public Headers build() {
            return CopiedHeaders.of(texts);
        }
    }
}
