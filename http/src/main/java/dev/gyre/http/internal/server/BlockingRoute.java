package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

/// Runs a blocking handler for each request of a route.
///
/// Loop thread only.
record BlockingRoute(LoopServer server, String name, BlockingHandler handler) implements Handler {
    @Override
    public Promise<?> handle(Request request, Response response) {
        Exchange exchange = ((ServerRequest) request).exchange();
        if (!server.mayBlock()) {
            exchange.context.warnOnce(
                    ServerContext.Warning.MAX_BLOCKING,
                    () ->
                            "all "
                                    + server.config().maxBlocking()
                                    + " blocking handlers of loop "
                                    + exchange.context.loop.config().name()
                                    + " are busy, requests get 503: raise"
                                    + " HttpConfig.withMaxBlocking, or make handlers faster");
            throw new HttpException(503, "the server is busy: retry later");
        }
        BlockingCall call = new BlockingCall(this, handler, request, exchange);
        exchange.block(call);
        call.count(true);
        return request.loop().promisify(call).finallyRun(call::done);
    }

    /// Changes the number of running handlers.
    void count(int more) {
        server.countBlocking(more);
    }

    @Override
    public String toString() {
        return name;
    }
}
