package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.testkit.SimulatedWorld;

/// A server and its clients in a simulated world.
abstract class SimulatedFixture extends HttpFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    /// Returns the response to a `POST` that closes its connection.
    protected String post(String target, String contentType, String body) {
        return ask(
                "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: %s\r\nContent-Length: %d"
                        .formatted(target, contentType, body.length()),
                body);
    }
}
