package dev.gyre.http.internal.server;

import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.OutputState;
import dev.gyre.io.Stream;

import java.nio.ByteBuffer;

/// What goes out to a connection, and whether the peer takes it: not only some of it now and then, which is all that
/// the stream's own time asks for, but at a least rate.
///
/// It is looked at once a window, which is the write timeout. What waited at one look and still waits at the next was
/// there to be taken all the time in between; if so little was taken then that the rate is missed, the peer is too
/// slow. Who has taken all that waited is not, however little that was.
///
/// Loop thread only.
final class Outflow {
    private static final double NANOS_A_SECOND = 1e9;

    private final Stream stream;
    private final Deadline nextLook;
    private final long windowNanos;
    private final long leastBytes;

    private boolean room = true;
    private boolean watched;
    private boolean forGood;
    private long sentBefore;
    private long waitedBefore;

    Outflow(Workbench bench, Stream stream) {
        this.stream = stream;
        nextLook = new Deadline(bench.loop, this::look);
        windowNanos = Deadline.nanos(bench.config.writeTimeout());
        leastBytes = (long) ((double) windowNanos / NANOS_A_SECOND * bench.config.leastWriteRate());
        watched = leastBytes == 0; // Nothing is asked for.
    }

    // ------------------------------------------------------------------ writing

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

    private void written(boolean goOn) {
        room &= goOn;
        if (!watched) {
            watched = true;
            watch();
        }
    }

    void writable() {
        room = true;
    }

    boolean hasRoom() {
        return room && stream.isOpen();
    }

    // ------------------------------------------------------------------ the rate

    /// Until the first look nothing is known of the peer.
    private void watch() {
        sentBefore = stream.sent();
        waitedBefore = stream.pending();
        nextLook.in(windowNanos);
    }

    private void look() {
        if (stream.pending() == 0 && !forGood) {
            watched = false;
            return;
        }
        long taken = stream.sent() - sentBefore;
        boolean slow = taken < waitedBefore && taken < leastBytes;
        // What was written just now nobody could take yet.
        if (slow && stream.outputState() == OutputState.BACKPRESSURED) {
            stream.abort(CloseReason.WRITE_TIMEOUT);
        } else {
            watch();
        }
    }

    /// Others write to the stream from now on, and do not say when.
    void watchForGood() {
        if (leastBytes > 0) {
            forGood = true;
            watched = true;
            watch();
        }
    }

    void cancel() {
        watched = true;
        nextLook.cancel();
    }
}
