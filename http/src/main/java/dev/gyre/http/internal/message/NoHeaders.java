package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BiConsumer;

/// No fields at all.
public final class NoHeaders implements Headers {
    public static final NoHeaders INSTANCE = new NoHeaders();

    private NoHeaders() {}

    @Override
    public @Nullable String get(String name) {
        return null;
    }

    @Override
    public List<String> all(String name) {
        return List.of();
    }

    @Override
    public boolean contains(String name) {
        return false;
    }

    @Override
    public boolean lists(String name, String token) {
        return false;
    }

    @Override
    public int size() {
        return 0;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> field) {}
}
