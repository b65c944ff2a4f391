package dev.gyre.http.internal.server;

import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BiConsumer;

/// The headers of one request as a handler holds them: see [ServerRequest].
record RequestHeaders(Exchange exchange, int generation) implements Headers {
    RequestHeaders(Exchange exchange) {
        this(exchange, exchange.generation());
    }

    private RequestHead head() {
        boolean _ = exchange.requireReadable(generation, "Headers");
        return exchange.head;
    }

    @Override
    public @Nullable String get(String name) {
        return head().get(name);
    }

    @Override
    public List<String> getAll(String name) {
        return head().getAll(name);
    }

    @Override
    public boolean contains(String name) {
        return head().contains(name);
    }

    @Override
    public boolean containsToken(String name, String token) {
        return head().containsToken(name, token);
    }

    @Override
    public int size() {
        return head().size();
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> field) {
        head().forEach(field);
    }
}
