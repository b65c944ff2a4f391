package dev.gyre.internal.net;

import dev.gyre.Timer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.TimeoutKind;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Optional;

/// The timeouts of a stream, on one timer. Activity only records a time stamp. The timer compares
/// the time stamps when it fires, and reschedules itself. A stream without timeouts has no timer.
///
/// Loop thread only.
final class StreamTimeouts {
    private static final long NEVER = Long.MAX_VALUE;

    /// Value of `timerAt` while suspended. It is before every deadline, so no timer is scheduled.
    private static final long SUSPENDED = Long.MIN_VALUE;

    private static final long QUIET_NANOS = 1_000_000_000;

    private static final Duration MAX_TIMEOUT = Duration.ofDays(36_500);

    private final Connection connection;
    private long idleNanos;
    private long readNanos;
    private long writeNanos;
    private long lingerNanos;

    /// Applies once all output is sent.
    private long lingerAfterOutputNanos;

    private final long openedAt;
    private long receivedAt;
    private long readingSince;
    private long sentAt;

    /// When the protocol last decided to continue after an idle timeout.
    private long idleSince;

    private boolean lingering;
    private long lingerSince;
    private @Nullable Timer timer;
    private long timerAt = NEVER;

    StreamTimeouts(Connection connection) {
        this.connection = connection;
        idleNanos = nanos(connection.config.idleTimeout());
        readNanos = nanos(connection.config.readTimeout());
        writeNanos = nanos(connection.config.writeTimeout());
        lingerNanos = cappedNanos(connection.config.lingerTimeout());
        lingerAfterOutputNanos = lingerNanos;
        long now = connection.nowNanos();
        openedAt = now;
        receivedAt = now;
        readingSince = now;
        sentAt = now;
    }

    /// Returns the time since the stream was opened.
    Duration age() {
        return since(openedAt);
    }

    /// Returns the time since the last byte in either direction.
    Duration idle() {
        return since(Math.max(receivedAt, sentAt));
    }

    private Duration since(long then) {
        return Duration.ofNanos(Math.max(0, connection.nowNanos() - then)); // After a move.
    }

    /// Returns the time until the next timeout; empty without timeouts.
    Optional<Duration> next() {
        long deadline = nextDeadline();
        return deadline == NEVER
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(Math.max(0, deadline - connection.nowNanos())));
    }

    private static long nanos(Duration timeout) {
        // Zero means no timeout.
        return timeout.compareTo(MAX_TIMEOUT) > 0 ? 0 : timeout.toNanos();
    }

    /// For the linger timeout, where zero means no time at all.
    private static long cappedNanos(Duration timeout) {
        return timeout.compareTo(MAX_TIMEOUT) > 0 ? MAX_TIMEOUT.toNanos() : timeout.toNanos();
    }

    void idle(Duration timeout) {
        idleNanos = nanos(timeout);
        reschedule();
    }

    void read(Duration timeout) {
        readNanos = nanos(timeout);
        readingSince = connection.nowNanos();
        reschedule();
    }

    void write(Duration timeout) {
        writeNanos = nanos(timeout);
        reschedule();
    }

    void lingerAtMost(Duration timeout) {
        lingerAfterOutputNanos = Math.min(lingerNanos, cappedNanos(timeout));
        reschedule();
    }

    /// Starts the linger timeout. Progress of the output restarts it.
    void linger() {
        lingering = true;
        lingerSince = connection.nowNanos();
        reschedule();
    }

    private long lingerUntil() {
        long nanos = connection.output.hasEnded() ? lingerAfterOutputNanos : lingerNanos;
        return lingering ? Math.max(lingerSince, sentAt) + Math.max(1, nanos) : NEVER;
    }

    void reschedule() {
        scheduleBy(nextDeadline());
    }

    private long nextDeadline() {
        return Math.min(
                Math.min(lingerUntil(), deadlineOf(TimeoutKind.IDLE)),
                Math.min(deadlineOf(TimeoutKind.READ), deadlineOf(TimeoutKind.WRITE)));
    }

    void received() {
        receivedAt = connection.nowNanos();
    }

    void readingStarted() {
        if (readNanos > 0) {
            readingSince = connection.nowNanos();
            scheduleBy(readingSince + readNanos);
        }
    }

    /// Output starts after the queue was empty.
    void outputStarted() {
        sentAt = connection.nowNanos();
        if (writeNanos > 0) {
            scheduleBy(sentAt + writeNanos);
        }
    }

    void sent() {
        sentAt = connection.nowNanos();
    }

    /// Whether no byte was received or sent for a while.
    boolean isQuiet() {
        return connection.nowNanos() - Math.max(receivedAt, sentAt) >= QUIET_NANOS;
    }

    private void scheduleBy(long deadline) {
        if (deadline >= timerAt || !connection.isOpenOrDraining()) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        timerAt = deadline;
        timer = connection.loop().at(deadline, _ -> onTimer()).unreference();
    }

    private long deadlineOf(TimeoutKind timeout) {
        return switch (timeout) {
            case IDLE ->
                    idleNanos > 0
                            ? Math.max(idleSince, Math.max(receivedAt, sentAt)) + idleNanos
                            : NEVER;
            case READ ->
                    readNanos > 0 && connection.isReading()
                            ? Math.max(receivedAt, readingSince) + readNanos
                            : NEVER;
            case WRITE ->
                    writeNanos > 0 && !connection.output.isEmpty() ? sentAt + writeNanos : NEVER;
        };
    }

    private void onTimer() {
        timer = null;
        timerAt = NEVER;
        long now = connection.nowNanos();
        if (lingerUntil() <= now) {
            connection.lifecycle.close(CloseReason.LINGER_TIMEOUT, null);
            return;
        }
        for (TimeoutKind timeout : TimeoutKind.values()) {
            if (deadlineOf(timeout) <= now && connection.isOpenOrDraining()) {
                connection.lifecycle.timedOut(timeout);
                restart(timeout, now);
            }
        }
        reschedule();
    }

    private void restart(TimeoutKind timeout, long now) {
        switch (timeout) {
            case IDLE -> idleSince = now;
            case READ -> readingSince = now;
            case WRITE -> sentAt = now;
        }
    }

    void cancel() {
        suspend();
        lingering = false;
    }

    /// Stops the timer while the stream moves to another loop. Deadlines stay.
    void suspend() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        timerAt = SUSPENDED;
    }

    void resume() {
        timerAt = NEVER;
        reschedule();
    }
}
