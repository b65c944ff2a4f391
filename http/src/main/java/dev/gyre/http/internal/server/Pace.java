package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// What a connection waits for, and for how long.
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
    private final Deadline deadline;
    private Phase phase = Phase.IDLE;

    /// How long content was waited for before this phase, and since when it is in this one.
    private long bodyNanos;

    private long bodySinceNanos;

    /// @param passed called when the time of the phase is over
    Pace(Workbench bench, Runnable passed) {
        this.bench = bench;
        deadline = new Deadline(bench.loop, passed);
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

    /// The time of the phase was not the peer's to use: it has a little more.
    void again() {
        deadline.in(TimeUnit.SECONDS.toNanos(1));
    }

    void cancel() {
        deadline.cancel();
    }
}
