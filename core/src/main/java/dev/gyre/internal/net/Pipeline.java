package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

/// Writes the input of one stream to another, and pauses it under backpressure.
///
/// Loop thread only.
final class Pipeline implements Protocol {
    private final Connection from;
    private final Connection to;
    private final Deferred<Long> outcome;
    private long bytes;
    private boolean finished;

    private Pipeline(Connection from, Connection to) {
        this.from = from;
        this.to = to;
        outcome = from.loop().deferred();
    }

    static Promise<Long> of(Connection from, Connection to) {
        return begin(from, to).outcome.promise();
    }

    /// Pipes both ways. When one stream closes, so does the other.
    static void join(Connection one, Connection other) {
        Pipeline there = begin(one, other);
        Pipeline back = begin(other, one);
        // No caller waits for these promises. The streams report their own close.
        there.outcome.promise().recover(_ -> there.bytes);
        back.outcome.promise().recover(_ -> back.bytes);
        one.lifecycle.addCloseListener(gone -> follow(gone, other));
        other.lifecycle.addCloseListener(gone -> follow(gone, one));
    }

    /// Finishes the output if its source has reached its end, and resets the stream otherwise.
    private static void follow(Connection gone, Connection left) {
        CloseReason why = gone.lifecycle.reason();
        boolean complete = left.output.isEnding();
        if (complete || why == CloseReason.ENDED || why == CloseReason.CLOSED) {
            left.lifecycle.drainForPipe();
        } else {
            left.lifecycle.close(CloseReason.ABORTED, gone.lifecycle.failure());
        }
    }

    private static Pipeline begin(Connection from, Connection to) {
        if (from.loop() != to.loop()) {
            throw new IllegalArgumentException(
                    "cannot pipe " + from + " to " + to + ": they belong to different loops");
        }
        Pipeline pipeline = new Pipeline(from, to);
        to.output.attachPipe(from.input::resume);
        from.lifecycle.pipeStarted();
        to.lifecycle.pipeStarted();
        from.readUnderPressure();
        from.lifecycle.addCloseListener(_ -> pipeline.fail(from));
        to.lifecycle.addCloseListener(_ -> pipeline.fail(to));
        from.input.replaceProtocol(pipeline);
        if (to.output.isBackpressured()) {
            from.input.pause();
        }
        return pipeline;
    }

    private void fail(Connection which) {
        if (!finished) {
            finish();
            from.input.pause();
            outcome.reject(which.lifecycle.closedException());
        }
    }

    private void finish() {
        finished = true;
        from.lifecycle.pipeEnded();
        to.lifecycle.pipeEnded();
    }

    @Override
    public String describe(Stream stream) {
        return "pipe to " + to.peer;
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        if (to.output.isEnding() || !to.isOpen()) {
            data.clear();
            fail(to);
            return;
        }
        bytes += data.readable();
        if (!to.stream.write(data)) {
            from.input.pause();
        }
    }

    @Override
    public void onEnd(Stream stream) {
        if (finished) {
            return;
        }
        finish();
        if (!to.isOpen()) {
            outcome.reject(to.lifecycle.closedException());
            return;
        }
        Promise<@Nullable Void> flushed = to.output.flushed();
        to.stream.end();
        outcome.follow(flushed.then(_ -> bytes));
    }
}
