package dev.gyre.internal.net;

import static dev.gyre.internal.base.Log.LOG;

import java.lang.System.Logger.Level;
import java.util.StringJoiner;

/// Counts streams that were reset before their output was complete, for one log line.
///
/// Loop thread only.
final class CutStreams {
    private static final int MAX_NAMED = 5;

    private final StringJoiner peers = new StringJoiner(", ");
    private int count;

    void add(Connection connection) {
        count++;
        if (count <= MAX_NAMED) {
            peers.add(connection.peer().toString());
        } else if (count == MAX_NAMED + 1) {
            peers.add("…");
        }
    }

    int count() {
        return count;
    }

    /// Logs one line if any stream was added.
    ///
    /// @param what what ended, as in `loop main`
    void log(String what) {
        if (count > 0) {
            String streams = count == 1 ? "1 stream" : count + " streams";
            LOG.log(Level.WARNING, what + " ended, reset " + streams + " in progress: " + peers);
        }
    }
}
