package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

/// Has requests answered on threads where the handler may wait.
///
/// Loop thread only.
final class BlockingRoute implements Handler {
    private final LoopServer server;
    private final String name;
    private final BlockingHandler handler;

    BlockingRoute(LoopServer server, String name, BlockingHandler handler) {
        this.server = server;
        this.name = name;
        this.handler = handler;
    }

    @Override
    public Promise<?> handle(Request request, Response response) {
        if (!server.mayBlock()) {
            throw new HttpException(503, "too many requests at a time");
        }
        Exchange exchange = ((ServerRequest) request).exchange();
        BlockingCall call = new BlockingCall(this, handler, request, response);
        exchange.isBlocking(call);
        call.count(true);
        return request.loop()
                .promisify(call)
                .finallyRun(call::over)
                .then(
                        answered -> {
                            exchange.endIfLeftOpen(call);
                            return answered;
                        });
    }

    /// So many more of its handlers run, or fewer.
    void count(int more) {
        server.countBlocking(more);
    }

    @Override
    public String toString() {
        return name;
    }
}
