package dev.gyre.http.internal.websocket;

import dev.gyre.http.Headers;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/// Header fields for tests, given as lines.
final class TestHeaders implements Headers {
    private final List<String> lines;

    TestHeaders(List<String> lines) {
        this.lines = List.copyOf(lines);
    }

    @Override
    public String get(String name) {
        return getAll(name).stream().findFirst().orElse(null);
    }

    @Override
    public List<String> getAll(String name) {
        List<String> found = new ArrayList<>();
        forEach(
                (each, value) -> {
                    if (each.equalsIgnoreCase(name)) {
                        found.add(value);
                    }
                });
        return found;
    }

    @Override
    public boolean contains(String name) {
        return !getAll(name).isEmpty();
    }

    @Override
    public boolean containsToken(String name, String token) {
        return getAll(name).stream()
                .flatMap(value -> List.of(value.split(",", -1)).stream())
                .anyMatch(each -> each.strip().equalsIgnoreCase(token));
    }

    @Override
    public int size() {
        return lines.size();
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> field) {
        for (String line : lines) {
            int colon = line.indexOf(':');
            field.accept(line.substring(0, colon), line.substring(colon + 1).strip());
        }
    }
}
