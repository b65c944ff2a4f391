package dev.gyre.http.testkit;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;
import dev.gyre.testkit.SimulatedWorld;

import java.util.function.Consumer;

/// The settings that each test of the client runs in.
enum Setting {
    SIMULATED {
        @Override
        void run(Consumer<HttpServer> routes, Consumer<TestClient> test) {
            try (SimulatedWorld world = SimulatedWorld.seed(7)) {
                HttpServer server = HttpServer.on(world.loop());
                routes.accept(server);
                try (TestClient client = TestClient.of(world, server.listen(80))) {
                    test.accept(client);
                }
            }
        }
    },
    /// Real sockets; the test's thread runs the loop.
    SOCKETS {
        @Override
        void run(Consumer<HttpServer> routes, Consumer<TestClient> test) {
            try (EventLoop loop = EventLoop.open()) {
                HttpServer server = HttpServer.on(loop);
                routes.accept(server);
                try (TestClient client = TestClient.of(server.listen(0))) {
                    test.accept(client);
                }
            }
        }
    },
    /// Real sockets; another thread runs the loop.
    OTHER_THREAD {
        @Override
        void run(Consumer<HttpServer> routes, Consumer<TestClient> test) {
            try (EventLoop loop = EventLoop.open()) {
                HttpServer server = HttpServer.on(loop);
                routes.accept(server);
                server.listen(0);
                Thread.ofPlatform().start(loop::run);
                while (loop.thread() == null) {
                    Thread.onSpinWait();
                }
                try (TestClient client = TestClient.of(server)) {
                    test.accept(client);
                }
            }
        }
    };

    /// Runs a test against a server with these routes.
    abstract void run(Consumer<HttpServer> routes, Consumer<TestClient> test);
}
