package dev.gyre.http;

import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Server-sent events: `text/event-stream`, as read by a browser's `EventSource`.
///
/// ```java
/// server.get("/events", (request, response) -> {
///     var events = response.events().retry(ofSeconds(2));
///     var timer = request.loop().every(ofSeconds(1), t -> events.sendJson("price", price()));
///     events.onClose(timer::cancel);
///     return events.closed();
/// });
/// ```
///
/// After fifteen seconds without an event a comment is sent, so that proxies do not close the
/// connection as idle, and a lost client is detected. [#keepAlive] changes the time.
///
/// Ignoring `false` of `send` buffers events up to the output limit; beyond it the connection is
/// closed. See [ResponseStream].
///
/// **Threads.** As [Response].
public interface EventStream {
    /// Sends an event of the default type, `message`.
    ///
    /// @param data of any number of lines
    /// @return as [ResponseStream#write(String)]
    boolean send(String data);

    /// Sends an event.
    ///
    /// @return as [ResponseStream#write(String)]
    boolean send(ServerSentEvent event);

    /// Sends an event whose data is a value as JSON, written by the mapper of
    /// [HttpServer#jsonMapper].
    ///
    /// @param type the name that browsers dispatch it by
    /// @return as [ResponseStream#write(String)]
    boolean sendJson(String type, @Nullable Object value);

    /// Sets the delay before the client reconnects. Browsers wait for some seconds by default.
    ///
    /// @return this stream
    /// @throws IllegalArgumentException if the time is negative
    EventStream retry(Duration time);

    /// Sets the time without events after which a comment is sent. Default 15 seconds.
    ///
    /// @param interval zero for no comments
    /// @return this stream
    /// @throws IllegalArgumentException if the interval is negative
    EventStream keepAlive(Duration interval);

    /// Returns the id of the last event that a reconnecting client has received; `null` if absent.
    @Nullable String lastEventId();

    /// Calls back once when the client has disconnected or the stream was closed; at once if it is
    /// closed already, as for `HEAD`. Exceptions of the callback are logged.
    ///
    /// @return this stream
    EventStream onClose(Runnable callback);

    /// Resolves when the client has disconnected or the stream was closed. Handlers return it.
    Promise<?> closed();

    /// Ends the stream. Idempotent.
    void close();

    /// Returns whether events can be sent.
    boolean isOpen();
}
