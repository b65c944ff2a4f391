package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Outcome;
import dev.gyre.Promise;

import org.junit.jupiter.api.AfterEach;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/// Two ends of a connection on one loop, and what tests of streams need of them.
public abstract class StreamFixture extends OperationFixture {
    /// What happened, in order, in words.
    protected final List<String> events = new ArrayList<>();

    /// The end that was accepted.
    protected Stream server;

    /// The end that connected.
    protected Stream client;

    protected Listener listener;

    @AfterEach
    void closeListener() {
        if (listener != null) {
            listener.close();
        }
    }

    /// Connects both ends, which have the settings given.
    protected void connect(StreamConfig serverSide, StreamConfig clientSide) {
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT.withStreams(serverSide),
                        stream -> server = stream);
        client = outcome(Stream.connect(loop, listener.address(), clientSide));
        runUntil("accepted", () -> server != null);
    }

    protected void connect() {
        connect(StreamConfig.DEFAULT, StreamConfig.DEFAULT);
    }

    protected Listener listen(ListenerConfig config) {
        listener = Listener.on(loop, anyPort(), config, stream -> server = stream);
        return listener;
    }

    protected InetSocketAddress address() {
        return (InetSocketAddress) listener.address();
    }

    /// Turns the loop until a promise is kept.
    protected <T> T outcome(Promise<T> promise) {
        return switch (settled(promise)) {
            case Outcome.Resolved(T value) -> value;
            case Outcome.Rejected(Throwable reason) ->
                    throw new AssertionError("the promise was broken", reason);
        };
    }

    /// Turns the loop until a promise is broken.
    protected Throwable failure(Promise<?> promise) {
        Outcome<?> outcome = settled(promise);
        assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<?>) outcome).reason();
    }

    private <T> Outcome<T> settled(Promise<T> promise) {
        promise.then(kept -> null, broken -> null); // So that nobody reports it.
        runUntil("settled", promise::isSettled);
        return promise.outcome();
    }

    /// Notes everything that happens at one end.
    protected Stream record(String name, Stream stream) {
        return stream.onData(data -> events.add(name + " " + data.getText(US_ASCII)))
                .onEnd(() -> events.add(name + " end"))
                .onWritable(() -> events.add(name + " writable"))
                .onClose(reason -> events.add(name + " " + reason));
    }

    protected void awaitEvent(String event) {
        runUntil("'" + event + "' among " + events, () -> events.contains(event));
    }

    protected void awaitClosed(Stream stream) {
        runUntil(stream + " is closed", () -> stream.closeReason() != null);
    }
}
