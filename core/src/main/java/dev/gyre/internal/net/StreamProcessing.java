package dev.gyre.internal.net;

import dev.gyre.BlockingWork;
import dev.gyre.BoundedExecutor;
import dev.gyre.CancellationSource;
import dev.gyre.Promise;
import dev.gyre.internal.base.QueueingExecutor;

import org.jspecify.annotations.Nullable;

/// Work outside the loop for one stream, whose input pauses until it completes: clause G-5.
///
/// Work may queue beyond the executor's limit. Each stream has at most one unit, so the number of
/// streams bounds the queue. Work starts in submission order.
///
/// Loop thread only.
final class StreamProcessing {
    private final Connection connection;

    /// Cancels the work in progress; null without.
    private @Nullable CancellationSource current;

    /// Whether the input was paused here, and not by the program.
    private boolean ownsPause;

    StreamProcessing(Connection connection) {
        this.connection = connection;
        connection.lifecycle.onClose(_ -> cancel());
    }

    <T extends @Nullable Object> Promise<T> start(
            BoundedExecutor executor, BlockingWork<? extends T> work) {
        if (isBusy(this)) {
            throw new IllegalStateException(
                    connection + " is processing: wait for the promise of process() first");
        }
        if (!connection.isOpen()) {
            return Promise.rejected(connection.loop(), connection.lifecycle.closedException());
        }
        CancellationSource source = new CancellationSource();
        Promise<T> result =
                connection
                        .loop()
                        .<T>promisify(
                                ((QueueingExecutor) executor).waiting, source.cancellation(), work)
                        .finallyRun(this::ended);
        current = source;
        if (!connection.input.isPaused()) {
            ownsPause = true;
            connection.input.pause();
        }
        return result;
    }

    static boolean isBusy(@Nullable StreamProcessing processing) {
        return processing != null && processing.current != null;
    }

    /// The program pauses or resumes the input itself.
    static void leavePause(@Nullable StreamProcessing processing) {
        if (processing != null) {
            processing.ownsPause = false;
        }
    }

    /// Resumes the input before a move. The deferred resume would run on the old loop, too late.
    static void prepareMove(@Nullable StreamProcessing processing) {
        if (processing != null) {
            processing.resume();
        }
    }

    /// Resumes the input if it was paused here and no work is in progress.
    private void resume() {
        if (ownsPause && current == null) {
            ownsPause = false;
            if (connection.isOpen()) {
                connection.input.resume();
            }
        }
    }

    private void ended() {
        current = null;
        if (connection.isOpen()) {
            // After the handlers of the promise: they write the response to what was read before.
            connection.loop().defer(this::resume);
        }
    }

    private void cancel() {
        if (current != null) {
            current.cancel(connection.lifecycle.closedException());
        }
    }
}
