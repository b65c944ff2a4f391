package dev.gyre.http.testkit;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// A stream of server-sent events. Created by [TestRequest#events()].
///
/// ```java
/// var events = client.get("/prices").events();
/// world.advance(Duration.ofSeconds(1));
/// events.expectEvent("price", "42").close();
/// ```
///
/// Comments, such as those that keep a connection alive, are skipped.
public final class TestEvents implements AutoCloseable {
    /// A server-sent event.
    ///
    /// @param type `message` by default
    /// @param id the last id of the stream; empty if absent
    /// @param retry the reconnection delay of this event; `null` if absent
    public record Event(String type, String data, String id, @Nullable Duration retry) {}

    private final TestStream stream;
    private String lastId = "";

    TestEvents(TestStream stream) {
        this.stream = stream;
    }

    /// Waits for the next event and returns it.
    ///
    /// @throws AssertionError if the stream ends before
    public Event next() {
        String type = "message";
        StringBuilder data = new StringBuilder();
        boolean hasData = false;
        Duration retry = null;
        while (true) {
            String line = stream.nextLine();
            if (line == null) {
                throw stream.failure("expected an event but the stream ended");
            }
            if (line.isEmpty()) {
                if (hasData || retry != null) {
                    return new Event(type, data.toString(), lastId, retry);
                }
                type = "message";
                continue;
            }
            int colon = line.indexOf(':');
            String name = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 1);
            value = value.startsWith(" ") ? value.substring(1) : value;
            switch (name) {
                case "event" -> type = value;
                case "data" -> {
                    data.append(hasData ? "\n" : "").append(value);
                    hasData = true;
                }
                case "id" -> lastId = value;
                case "retry" -> {
                    if (value.matches("[0-9]{1,15}")) {
                        retry = Duration.ofMillis(Long.parseLong(value));
                    }
                }
                default -> {} // A comment or an unknown line.
            }
        }
    }

    /// Waits for the next event and expects this data, of any type.
    ///
    /// @return this stream
    public TestEvents expectEvent(String data) {
        Event event = next();
        if (!event.data.equals(data)) {
            throw stream.failure("expected event data \"" + data + "\" but was " + event);
        }
        return this;
    }

    /// Waits for the next event and expects this type and data.
    ///
    /// @return this stream
    public TestEvents expectEvent(String type, String data) {
        Event event = next();
        if (!event.type.equals(type) || !event.data.equals(data)) {
            throw stream.failure("expected event " + type + " \"" + data + "\" but was " + event);
        }
        return this;
    }

    /// Waits for the end of the stream.
    ///
    /// @throws AssertionError if another event arrives, or the connection is lost
    public void expectEnd() {
        stream.expectEnd();
    }

    /// Closes the connection.
    @Override
    public void close() {
        stream.close();
    }
}
