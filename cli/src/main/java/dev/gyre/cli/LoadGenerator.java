package dev.gyre.cli;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Lets each client send one message per second, spread evenly, and measures the latency of the
/// responses.
///
/// The latency counts from the scheduled time of a message. A message sent late, because this
/// process or the machine was busy, counts as slow: coordinated omission is avoided.
///
/// Loop thread only.
final class LoadGenerator {
    private static final long SECOND = 1_000_000_000;

    /// The interval between two bursts of messages.
    private static final long STEP = 1_000_000;

    /// The timeout for the last responses. Long, because only lost messages may count as missing.
    private static final Duration LAST_MESSAGE_TIMEOUT = Duration.ofSeconds(60);

    private static final long MAX_NANOS = 3_600 * SECOND;

    private final LoadClients clients;
    private final EventLoop loop;
    private final Deferred<@Nullable Void> done;
    private final Histogram nanos = new Histogram(MAX_NANOS, 3);
    private final long total;

    private long startNanos;
    private long due;
    private long sent;
    private long received;
    private long wrong;
    private long skipped;
    private @Nullable Timer steps;

    /// @param seconds the number of messages per client
    LoadGenerator(LoadClients clients, long seconds) {
        this.clients = clients;
        loop = clients.loop();
        done = loop.deferred();
        total = seconds * clients.size();
    }

    /// Starts.
    ///
    /// @return resolved once all responses arrived, or timed out
    Promise<@Nullable Void> run() {
        startNanos = loop.nowNanos();
        steps = loop.every(Duration.ofNanos(STEP), _ -> step());
        return done.promise();
    }

    private void step() {
        long elapsed = (loop.nowNanos() - startNanos) / STEP * STEP;
        // Not elapsed * size, which would overflow after a day.
        long dueNow =
                elapsed / SECOND * clients.size() + elapsed % SECOND * clients.size() / SECOND;
        for (long until = Math.min(total, dueNow); due < until; due++) {
            if (clients.client((int) (due % clients.size())).send(this, dueNanos(due))) {
                sent++;
            } else {
                skipped++;
            }
        }
        if (due == total && steps != null) {
            steps.cancel();
            steps = null;
            if (received < sent) {
                Timer _ = loop.after(LAST_MESSAGE_TIMEOUT, _ -> finish()).unreference();
            } else {
                finish();
            }
        }
    }

    /// Returns the end of the step in which the message is due.
    private long dueNanos(long message) {
        long second = message / clients.size();
        long within = message % clients.size() * SECOND / clients.size();
        return startNanos + second * SECOND + (within / STEP + 1) * STEP;
    }

    void onResponse(long dueNanos, boolean valid) {
        received++;
        if (!valid) {
            wrong++;
        }
        long took = loop.nanoTime() - dueNanos;
        nanos.recordValue(Math.clamp(took, 0, MAX_NANOS));
        if (due == total && received == sent) {
            finish();
        }
    }

    private void finish() {
        if (!done.promise().isSettled()) {
            done.resolve(null);
        }
    }

    /// Returns the latencies.
    Histogram nanos() {
        return nanos;
    }

    /// Returns the number of messages sent so far.
    long sent() {
        return sent;
    }

    /// Returns the number of messages without a response, unsent ones included.
    long missing() {
        return sent - received + skipped;
    }

    /// Returns the number of invalid responses.
    long wrong() {
        return wrong;
    }
}
