package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;

import org.junit.jupiter.api.AfterEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// A server and its peers on one loop.
abstract class HttpFixture {
    protected EventLoop loop = open(LoopConfig.DEFAULT);
    protected HttpServer server = HttpServer.on(loop);

    protected abstract EventLoop open(LoopConfig config);

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    protected void configure(HttpConfig config) {
        server = HttpServer.on(loop, config);
    }

    protected Talk connect() {
        if (!listens) {
            listens = true;
            server.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    ListenerConfig.DEFAULT);
        }
        Stream stream = outcome(Stream.connect(loop, server.address()));
        Talk talk = new Talk(this, stream);
        runUntil("accepted", () -> server.connections() > 0);
        return talk;
    }

    private boolean listens;

    /// What comes back for a request that is the last one on its connection.
    protected String ask(String head, String content) {
        Talk talk = connect();
        talk.send(head + "\r\nConnection: close\r\n\r\n" + content);
        return talk.all();
    }

    protected String get(String target) {
        return ask("GET " + target + " HTTP/1.1\r\nHost: a", "");
    }

    /// A whole request, after which the connection is kept.
    protected static String request(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    protected static String contentOf(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    protected <T> T outcome(Promise<T> promise) {
        promise.then(_ -> null, _ -> null); // So that nobody reports it.
        runUntil("settled", promise::isSettled);
        return switch (promise.outcome()) {
            case Outcome.Resolved(T value) -> value;
            case Outcome.Rejected(Throwable reason) ->
                    throw new AssertionError("the promise was broken", reason);
        };
    }

    protected void turn() {
        loop.runFor(Duration.ofMillis(1));
    }

    /// Turns the loop until something holds. The time is for what never comes: nothing waits for it.
    protected void runUntil(String what, BooleanSupplier holds) {
        runUntil(() -> what, holds);
    }

    protected void runUntil(Supplier<String> what, BooleanSupplier holds) {
        long giveUpNanos = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime() - giveUpNanos)
                    .as(() -> "waited for 20 seconds and it does not hold: " + what.get())
                    .isNegative();
            loop.runFor(Duration.ofMillis(1));
        }
    }
}
