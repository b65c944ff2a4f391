package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;

import java.util.concurrent.atomic.AtomicLong;

/// One loop of a server, and what it has answered.
///
/// @param requests how many requests came: written by the loop thread alone, read by any
public record ServerLoop(EventLoop loop, HttpServer server, AtomicLong requests) {
    static ServerLoop of(EventLoop loop, HttpServer server) {
        AtomicLong requests = new AtomicLong();
        server.use(
                (request, response, next) -> {
                    // No locked instruction: nobody else writes.
                    requests.setOpaque(requests.getPlain() + 1);
                    return next.handle(request, response);
                });
        return new ServerLoop(loop, server, requests);
    }
}
