package dev.gyre.internal.group;

import dev.gyre.EventLoop;
import dev.gyre.internal.base.Log;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/// Receives the signals that end a group. Every loop has a subscription, so that none is lost while
/// a loop is replaced. The first loop that receives a signal acts on it. A loop that receives it
/// later, after a long callback, does not mistake it for the second signal.
final class GroupSignals {
    private final Group group;

    // Shared: the number of signals on which a loop has acted.
    private final AtomicInteger acted = new AtomicInteger();

    GroupSignals(Group group) {
        this.group = group;
    }

    Optional<Signals> subscribe(EventLoop loop) {
        AtomicInteger received = new AtomicInteger(acted.get());
        try {
            return Optional.of(
                    Signals.on(
                            loop,
                            Signal.SIGINT,
                            Signal.SIGTERM,
                            _ -> {
                                int before = received.getAndIncrement();
                                if (acted.compareAndSet(before, before + 1)) {
                                    end();
                                }
                            }));
        } catch (RuntimeException e) {
            if (group.indexOf(loop) == 0) {
                Log.LOG.log(
                        System.Logger.Level.WARNING,
                        "LoopGroup.run cannot receive SIGINT and SIGTERM, which now end the process"
                                + " at once: end the group with shutdown() or close()",
                        e);
            }
            return Optional.empty();
        }
    }

    /// The second signal ends the shutdown that the first one began.
    private void end() {
        if (group.isRunning()) {
            CompletionStage<?> _ = group.shutdown(group.config().shutdownTimeout());
        } else {
            group.close();
        }
    }
}
