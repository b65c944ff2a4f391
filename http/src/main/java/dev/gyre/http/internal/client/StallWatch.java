package dev.gyre.http.internal.client;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Notices that nothing of a call moves on its connection. What moves only notes when that was, and the timer finds out when it fires
/// how long to go on.
///
/// That the kernel takes what was written is noted when it has taken all of it. As it may be taken bit by bit, and never all, the timer
/// also looks some times in between.
///
/// Loop thread only.
final class StallWatch {
    private static final int LOOKS = 8;
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final ClientCall call;
    private final Stream stream;
    private final EventLoop loop;
    private final long nanos;
    private long movedAt;
    private long sentSoFar;
    private boolean flushAwaited;
    private @Nullable Timer timer;

    /// Begins to watch, with a head that was written just now.
    StallWatch(ClientCall call, Stream stream, Duration timeout) {
        this.call = call;
        this.stream = stream;
        loop = stream.loop();
        nanos = (timeout.compareTo(LONGEST) > 0 ? LONGEST : timeout).toNanos();
        written();
        watch();
    }

    /// Something has, or what did not count so far begins to.
    void moved() {
        movedAt = loop.nowNanos();
    }

    /// Something was written.
    void written() {
        moved();
        if (!flushAwaited) {
            flushAwaited = true;
            Promise<?> _ = stream.flushed().then(_ -> flushed(), _ -> false);
        }
    }

    private boolean flushed() {
        flushAwaited = false;
        noteSent();
        return true;
    }

    private void noteSent() {
        long sent = stream.sent();
        if (sent != sentSoFar) {
            sentSoFar = sent;
            moved();
        }
    }

    private void watch() {
        long soon = loop.nowNanos() + Math.max(1, nanos / LOOKS);
        timer = loop.at(Math.min(movedAt + nanos, soon), _ -> look());
    }

    private void look() {
        if (call.isPaused()) {
            moved();
        }
        noteSent();
        if (loop.nowNanos() - movedAt >= nanos) {
            call.stalled(stream.pending());
        } else {
            watch();
        }
    }

    void stop() {
        if (timer != null) {
            timer.cancel();
        }
    }
}
