package dev.gyre.internal.net;

import static dev.gyre.internal.base.Log.LOG;

import java.lang.System.Logger.Level;
import java.util.StringJoiner;

/// Counts streams that are closed before their output was finished, for one line of the log.
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

    /// Logs once, if any was added.
    ///
    /// @param what what ended, as in `loop main`
    void log(String what) {
        if (count > 0) {
            LOG.log(
                    Level.WARNING,
                    "{0} ended before {1} finished; reset: {2}",
                    what,
                    count == 1 ? "1 stream had" : count + " streams had",
                    peers);
        }
    }
}
