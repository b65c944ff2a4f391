package dev.gyre.http.internal.server;

import dev.gyre.http.Handler;
import dev.gyre.http.Middleware;
import dev.gyre.http.RefusedRequest;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// What every request passes on its way to the routes, the first middleware outermost; and what those hear of that
/// never became a request.
///
/// Loop thread only.
final class Entrance {
    private final Handler routes;
    private final List<Middleware> middleware = new ArrayList<>();
    private Handler outermost;

    Entrance(Handler routes) {
        this.routes = routes;
        outermost = routes;
    }

    void add(Middleware added) {
        middleware.add(Objects.requireNonNull(added, "middleware"));
        Handler chain = routes;
        for (int i = middleware.size() - 1; i >= 0; i--) {
            Middleware outer = middleware.get(i);
            Handler next = chain;
            chain =
                    (request, response) ->
                            ((ServerRequest) request)
                                    .exchange()
                                    .outcome
                                    .returned(outer.handle(request, response, next));
        }
        outermost = chain;
    }

    boolean isEmpty() {
        return middleware.isEmpty();
    }

    Handler outermost() {
        return outermost;
    }

    /// @param head what was made of it; null if nothing was
    void refused(SocketAddress peer, Refusal refusal, @Nullable RequestHead head) {
        if (middleware.isEmpty()) {
            return;
        }
        RefusedRequest refused =
                new RefusedRequest(
                        peer,
                        head == null ? null : head.refusedMethod(),
                        head == null ? null : head.refusedTarget(),
                        refusal.status(),
                        refusal.reason());
        middleware.forEach(each -> UserCallbacks.tell(each::refused, refused));
    }
}
