package dev.gyre.http;

import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

/// Server-sent events: `text/event-stream`, what a browser's `EventSource` reads.
///
/// ```java
/// server.get("/events", (request, response) -> {
///     var events = response.events();
///     var timer = request.loop().every(ofSeconds(1), t -> events.send("tick"));
///     events.onClose(timer::cancel);
///     return events.closed();
/// });
/// ```
///
/// A comment is sent when nothing else was for fifteen seconds, so that what is between does not take the connection for idle,
/// and a peer that is gone is noticed.
///
/// Who sends on although `send` says no has the connection closed at the limit of what may wait: see [ResponseStream].
///
/// **Threads.** As those of [Response].
public interface EventStream {
    /// Sends an event of the usual type. Lines of its data are kept.
    ///
    /// @return as [ResponseStream#write(String)]
    boolean send(String data);

    /// Sends an event.
    ///
    /// @param type its name; null for the usual
    /// @param id what a peer that comes again says it has seen last; null for none
    /// @return as [ResponseStream#write(String)]
    boolean send(@Nullable String type, @Nullable String id, String data);

    /// The id of the last event a peer says it has seen; null for none.
    @Nullable String lastSeen();

    /// Calls back once when the peer is gone, or the stream was ended, by whomever; at once if that has been already, as for
    /// `HEAD`, which asks for no events. What it throws is logged.
    ///
    /// @return this
    EventStream onClose(Runnable callback);

    /// Is resolved when the peer is gone, or the stream was ended: what a handler returns.
    Promise<?> closed();

    /// Ends the stream. Does nothing if that is over.
    void close();

    boolean isOpen();
}
