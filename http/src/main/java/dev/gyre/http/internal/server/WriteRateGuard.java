package dev.gyre.http.internal.server;

import dev.gyre.http.internal.time.Deadline;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.OutputState;
import dev.gyre.io.Stream;

import java.nio.ByteBuffer;

/// Writes to a connection, and aborts it if the client reads too slowly. The stream's own write
/// timeout only detects a client that reads nothing; this guard enforces a min rate.
///
/// It checks once per window, which is the write timeout. Output that was pending at one check and
/// still is at the next was available to the client for the whole window. If the client read less
/// of it than the rate demands, it is too slow. A client that has read all pending output never is.
///
/// Loop thread only.
final class WriteRateGuard {
    private final Stream stream;
    private final Deadline nextCheck;
    private final long windowNanos;

    /// The min number of bytes per window; 0 for any.
    private final long minBytes;

    // Loop thread only.
    private boolean room = true;
    private boolean permanent;
    private long sentBefore;
    private long pendingBefore;

    WriteRateGuard(ServerContext context, Stream stream) {
        this.stream = stream;
        nextCheck = new Deadline(context.loop, this::check);
        windowNanos = Deadline.nanos(context.config.writeTimeout());
        minBytes = (long) (windowNanos / 1e9 * context.config.minWriteBytesPerSecond());
    }

    void write(Buffer content) {
        if (stream.isOpen()) {
            written(stream.write(content));
        }
    }

    void write(ByteBuffer content) {
        if (stream.isOpen()) {
            written(stream.write(content));
        }
    }

    private void written(boolean hasRoom) {
        room &= hasRoom;
        if (minBytes > 0 && !nextCheck.isArmed()) {
            watch();
        }
    }

    void writable() {
        room = true;
    }

    boolean hasRoom() {
        return room && stream.isOpen();
    }

    private void watch() {
        sentBefore = stream.sent();
        pendingBefore = stream.pending();
        nextCheck.in(windowNanos);
    }

    private void check() {
        if (stream.pending() == 0 && !permanent) {
            return;
        }
        long sent = stream.sent() - sentBefore;
        boolean slow = sent < pendingBefore && sent < minBytes;
        // Output of this tick does not count: the client could not read it yet.
        if (slow && stream.outputState() == OutputState.BACKPRESSURED) {
            stream.abort(CloseReason.WRITE_TIMEOUT);
        } else {
            watch();
        }
    }

    /// Checks in every window from now on, because another protocol writes to the stream directly.
    void watchAlways() {
        permanent = true;
        if (minBytes > 0) {
            watch();
        }
    }

    void cancel() {
        nextCheck.cancel();
    }
}
