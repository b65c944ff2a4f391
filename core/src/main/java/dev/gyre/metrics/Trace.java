package dev.gyre.metrics;

import dev.gyre.internal.loop.LoopTrace;

import java.net.InetAddress;
import java.util.List;

/// Records the events of connections, for the analysis of an incident. Off by default.
///
/// ```java
/// group.trace().peer(address).start();
/// …
/// IO.print(TraceEvent.text(group.trace().events()));
/// group.trace().stop();
/// ```
///
/// Each loop keeps its last 8 192 events. The memory for them is allocated by [#start()] and
/// released by [#clear()] after [#stop()]. A loop has one trace: a start replaces the filter of the
/// previous one, and events stay until they are overwritten or cleared.
///
/// The trace of a group includes loops that replace failed ones.
///
/// **Threads.** Any.
public sealed interface Trace permits LoopTrace {
    /// Returns a trace of one connection.
    ///
    /// @param id see [dev.gyre.io.Stream#id()]
    Trace connection(long id);

    /// Returns a trace of the connections of one peer.
    Trace peer(InetAddress address);

    /// Returns a trace of the exchanges of one route. A connection is recorded from the moment that
    /// a route was found until the next one: see [dev.gyre.io.Stream#traceRoute].
    ///
    /// @param pattern as the route was defined, such as `/users/{id}`
    Trace route(String pattern);

    /// Returns a trace of all connections and timers.
    Trace all();

    /// Starts to record, with this trace's filter. Replaces the previous filter.
    void start();

    /// Stops recording. The events stay readable.
    void stop();

    /// Returns whether events are recorded, with any filter.
    boolean isOn();

    /// Returns the recorded events in order of time, the oldest first.
    List<TraceEvent> events();

    /// Drops the recorded events.
    void clear();
}
