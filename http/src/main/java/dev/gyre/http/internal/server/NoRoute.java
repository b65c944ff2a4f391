package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.internal.message.PercentEncoding;

import org.jspecify.annotations.Nullable;

/// Handles a request without a route: `OPTIONS` gets the allowed methods, all others an error.
///
/// Loop thread only.
///
/// @param allowed the methods that the path has routes for; `null` if none
/// @param malformed the reason why the path cannot have a route; `null` if it is well-formed
/// @param misdirected whether the server has no routes for the host
record NoRoute(
        LoopServer server,
        @Nullable String allowed,
        @Nullable HttpException malformed,
        boolean misdirected)
        implements Handler {
    @Override
    public Promise<?> handle(Request request, Response response) {
        Exchange exchange = ((ServerRequest) request).exchange();
        String method = exchange.head.method();
        if (malformed != null) {
            throw malformed;
        }
        boolean isOptions = method.equals("OPTIONS");
        if (isOptions && allowed != null) {
            return response.header("Allow", allowed).status(204).send();
        }
        if (isOptions && exchange.head.target().equals("*")) {
            return response.status(204).send();
        }
        if (misdirected) {
            throw new HttpException(
                    421, "this server does not serve host " + exchange.head.get("Host"));
        }
        if (allowed != null) {
            exchange.response.setSticky("Allow", allowed);
        }
        // CONNECT is for proxies, and names no resource that could be missing.
        boolean common = exchange.head.isMethodKnown() && !method.equals("CONNECT");
        if (!common && !server.dispatcher.hasMethod(method)) {
            throw new HttpException(501, "method " + method + " is not implemented");
        }
        throw allowed != null
                ? new HttpException(405, method + " is not allowed here: allowed are " + allowed)
                : new HttpException(
                        404,
                        "no resource at "
                                + PercentEncoding.require(exchange.head.rawPath(), false));
    }
}
