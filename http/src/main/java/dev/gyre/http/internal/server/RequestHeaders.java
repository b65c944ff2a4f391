package dev.gyre.http.internal.server;

import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BiConsumer;

/// The header fields of one request, and of no other: who keeps them for longer is told so, and does not read those of somebody
/// else whose request came into the same memory.
final class RequestHeaders implements Headers {
    private final Exchange exchange;
    private final RequestHead head;
    private final int generation;

    RequestHeaders(Exchange exchange, RequestHead head) {
        this.exchange = exchange;
        this.head = head;
        generation = exchange.generation();
    }

    private RequestHead head() {
        boolean _ = exchange.isElsewhere("Headers");
        if (!exchange.isCurrent(generation)) {
            throw new IllegalStateException(
                    "the request is over: keep what is needed of its header, not the header"
                            + " itself");
        }
        return head;
    }

    @Override
    public @Nullable String get(String name) {
        return head().get(name);
    }

    @Override
    public List<String> all(String name) {
        return head().all(name);
    }

    @Override
    public boolean contains(String name) {
        return head().contains(name);
    }

    @Override
    public boolean lists(String name, String token) {
        return head().lists(name, token);
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
