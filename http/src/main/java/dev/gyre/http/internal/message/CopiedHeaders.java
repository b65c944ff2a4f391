package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// Fields as text of their own. Immutable.
final class CopiedHeaders implements Headers {
    static final CopiedHeaders NONE = new CopiedHeaders();

    /// Name, value, name, value, …
    private final String[] texts;

    CopiedHeaders(String... texts) {
        this.texts = texts;
    }

    @Override
    public @Nullable String get(String name) {
        int at = next(name, 0);
        return at < 0 ? null : texts[at + 1];
    }

    @Override
    public List<String> all(String name) {
        List<String> values = new ArrayList<>();
        for (int at = next(name, 0); at >= 0; at = next(name, at + 2)) {
            values.add(texts[at + 1]);
        }
        return List.copyOf(values);
    }

    @Override
    public boolean contains(String name) {
        return next(name, 0) >= 0;
    }

    @Override
    public boolean lists(String name, String token) {
        Objects.requireNonNull(token, "token");
        for (int at = next(name, 0); at >= 0; at = next(name, at + 2)) {
            if (ElementList.has(texts[at + 1], token)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public int size() {
        return texts.length / 2;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> field) {
        Objects.requireNonNull(field, "field");
        for (int at = 0; at < texts.length; at += 2) {
            field.accept(texts[at], texts[at + 1]);
        }
    }

    private int next(String name, int from) {
        Objects.requireNonNull(name, "name");
        for (int at = from; at < texts.length; at += 2) {
            if (texts[at].equalsIgnoreCase(name)) {
                return at;
            }
        }
        return -1;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        forEach((name, value) -> text.append(name).append(": ").append(value).append('\n'));
        return text.toString();
    }
}
