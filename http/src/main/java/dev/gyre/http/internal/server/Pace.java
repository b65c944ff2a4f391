package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// The timeouts of a connection: what it waits for, how long, and what happens then.
///
/// Loop thread only.
final class Pace {
    /// Longer than a packet takes from one end of the world to the other. A server that drains waits no longer for a peer's end,
    /// once the kernel has all there is: a request that crosses ours is not to destroy the last answer on its way.
    static final Duration CROSSING = Duration.ofMillis(500);

    enum Phase {
        /// Nothing of a request has arrived.
        IDLE,
        /// A part of a head has.
        HEAD,
        /// Content is waited for.
        BODY,
        /// Somebody works on an answer, which has all the time it wants.
        WORK
    }

    private final Workbench bench;
    private final HttpConnection connection;
    private final Deadline deadline;
    private Phase phase = Phase.IDLE;

    /// How long content was waited for before this phase, and since when it is in this one.
    private long bodyNanos;

    private long bodySinceNanos;

    /// The timeout that ends the connection; CLOSED if none does.
    private CloseReason closeReason = CloseReason.CLOSED;

    Pace(Workbench bench, HttpConnection connection) {
        this.bench = bench;
        this.connection = connection;
        deadline = new Deadline(bench.loop, this::expire);
        idle();
    }

    Phase phase() {
        return phase;
    }

    void idle() {
        phase = Phase.IDLE;
        deadline.in(bench.server.idleNanos());
    }

    /// The time counts from the first byte: more of them buy none.
    void head() {
        if (phase != Phase.HEAD) {
            phase = Phase.HEAD;
            deadline.in(Deadline.nanos(bench.config.headTimeout()));
        }
    }

    /// A request is there: whatever its content takes is counted from now on.
    void request() {
        bodyNanos = 0;
        phase = Phase.WORK;
        deadline.never();
    }

    /// Each byte buys time, so that much may take long, but not a little. The time is that of the whole content, in
    /// however many goes it is asked for.
    private void body(long received) {
        long now = bench.loop.nowNanos();
        if (phase != Phase.BODY) {
            phase = Phase.BODY;
            bodySinceNanos = now;
        }
        long earned = TimeUnit.SECONDS.toNanos(received / bench.config.leastBodyRate());
        long allowed = Deadline.nanos(bench.config.bodyTimeout()) + earned;
        deadline.in(Math.max(0, allowed - bodyNanos - (now - bodySinceNanos)));
    }

    /// Content is waited for, if somebody wants it.
    void bodyOrWork(@Nullable RequestBody body) {
        if (body == null || !body.isWanted()) {
            work();
        } else {
            body(body.received());
        }
    }

    /// What the peer is not waited for does not count.
    void work() {
        if (phase == Phase.BODY) {
            bodyNanos += bench.loop.nowNanos() - bodySinceNanos;
        }
        phase = Phase.WORK;
        deadline.never();
    }

    void cancel() {
        deadline.cancel();
    }

    // ------------------------------------------------------------------ expiry

    private void expire() {
        if (connection.stream().pending() > 0) {
            // We do not read as long as the peer does not. The write timeout covers that: wait on.
            deadline.in(TimeUnit.SECONDS.toNanos(1));
            return;
        }
        switch (phase) {
            case IDLE -> {
                timedOut(CloseReason.IDLE_TIMEOUT);
                connection.closeNow();
            }
            case HEAD -> {
                timedOut(CloseReason.HEADER_TIMEOUT);
                connection.giveUp(Refusal.HEAD_TOO_SLOW);
            }
            case BODY -> {
                timedOut(CloseReason.BODY_TIMEOUT);
                connection.failBody(new HttpException(408, "the content comes too slowly"));
            }
            case WORK -> {}
        }
    }

    /// Makes this timeout the reason for which the connection closes, however that comes about.
    void timedOut(CloseReason timeout) {
        closeReason = timeout;
    }

    /// Returns the reason to close the connection with.
    CloseReason closeReason() {
        return closeReason;
    }
}
