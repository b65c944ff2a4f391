package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// Headers as strings of their own. Immutable, except a [HeaderList].
public sealed class CopiedHeaders implements Headers permits HeaderList {
    public static final CopiedHeaders NONE = new CopiedHeaders(List.of());

    /// Name, value, name, value, …
    final List<String> texts;

    CopiedHeaders(List<String> texts) {
        this.texts = texts;
    }

    /// Returns headers of alternating names and values, which are valid.
    public static Headers of(List<String> texts) {
        return texts.isEmpty() ? NONE : new CopiedHeaders(List.copyOf(texts));
    }

    @Override
    public final @Nullable String get(String name) {
        int at = next(name, 0);
        return at < 0 ? null : texts.get(at + 1);
    }

    @Override
    public final List<String> getAll(String name) {
        List<String> values = new ArrayList<>();
        for (int at = next(name, 0); at >= 0; at = next(name, at + 2)) {
            values.add(texts.get(at + 1));
        }
        return List.copyOf(values);
    }

    @Override
    public final int size() {
        return texts.size() / 2;
    }

    @Override
    public final void forEach(BiConsumer<? super String, ? super String> header) {
        Objects.requireNonNull(header, "header");
        for (int at = 0; at < texts.size(); at += 2) {
            header.accept(texts.get(at), texts.get(at + 1));
        }
    }

    private int next(String name, int from) {
        Objects.requireNonNull(name, "name");
        for (int at = from; at < texts.size(); at += 2) {
            if (texts.get(at).equalsIgnoreCase(name)) {
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
