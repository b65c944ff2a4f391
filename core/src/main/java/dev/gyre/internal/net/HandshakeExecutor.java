package dev.gyre.internal.net;

import dev.gyre.EventLoop;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/// What takes long in the TLS handshakes of a loop: done elsewhere, for a few of them at a time, in the order in which they
/// asked. Those that wait are no more than there are connections, and one that is closed waits no longer.
///
/// Loop thread only.
final class HandshakeExecutor {
    /// Far more than there are processors: a flood of handshakes is no faster for more, but takes the processors from
    /// everybody else, and some keys are asked for over a network.
    static final int MAX_CONCURRENT = 64;

    private record Job(Runnable tasks, Runnable done, Consumer<Throwable> refused) {}

    private final EventLoop loop;
    private final Consumer<Runnable> notifier;
    private final LinkedHashMap<Object, Job> waiting = new LinkedHashMap<>();
    private int running;

    /// @param tell runs what it is given outside of any call of a user
    HandshakeExecutor(EventLoop loop, Consumer<Runnable> tell) {
        this.loop = loop;
        this.notifier = tell;
    }

    int running() {
        return running;
    }

    int waiting() {
        return waiting.size();
    }

    /// Runs the tasks elsewhere, when it is their turn.
    ///
    /// @param owner who may [#leave]; has one job at a time
    /// @param done called on the loop when they have been run
    /// @param refused called on the loop if they threw, or nobody runs them
    void submit(Object owner, Runnable tasks, Runnable done, Consumer<Throwable> refused) {
        Job before = waiting.put(owner, new Job(tasks, done, refused));
        assert before == null : owner + " waits already";
        startNext();
    }

    /// It is not wanted any more; what runs already is let run.
    void cancel(Object owner) {
        waiting.remove(owner);
    }

    private void startNext() {
        while (running < MAX_CONCURRENT) {
            Map.@Nullable Entry<Object, Job> next = waiting.pollFirstEntry();
            if (next == null) {
                return;
            }
            Job job = next.getValue();
            running++;
            loop.promisify(
                            _ -> {
                                job.tasks.run();
                                return true;
                            })
                    .then(
                            _ -> {
                                ended(job.done);
                                return true;
                            },
                            refused -> {
                                ended(() -> job.refused.accept(refused));
                                return false;
                            });
        }
    }

    /// The owner is told outside of the promise, where what it throws would be the promise's.
    private void ended(Runnable news) {
        running--;
        notifier.accept(news);
        startNext();
    }
}
