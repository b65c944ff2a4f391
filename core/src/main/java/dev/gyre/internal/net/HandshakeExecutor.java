package dev.gyre.internal.net;

import dev.gyre.EventLoop;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/// Runs the slow parts of TLS handshakes on other threads, in order of submission. The number of
/// concurrent jobs is limited; the queue holds at most one job per connection.
///
/// Loop thread only.
final class HandshakeExecutor {
    /// Well above the number of processors, as some keys are fetched over a network. A higher limit
    /// would let a flood of handshakes starve other threads.
    static final int MAX_CONCURRENT = 64;

    private record Job(Runnable tasks, Runnable done, Consumer<Throwable> refused) {}

    private final EventLoop loop;
    private final Consumer<Runnable> notifier;
    private final LinkedHashMap<Object, Job> waiting = new LinkedHashMap<>();
    private int running;

    /// @param notifier runs a callback later, outside any call of the user's
    HandshakeExecutor(EventLoop loop, Consumer<Runnable> notifier) {
        this.loop = loop;
        this.notifier = notifier;
    }

    int running() {
        return running;
    }

    int waiting() {
        return waiting.size();
    }

    /// Runs the tasks on another thread when it is their turn.
    ///
    /// @param owner the key for [#cancel]; may have one job at a time
    /// @param done called on the loop after the tasks have run
    /// @param refused called on the loop if the tasks threw or were rejected
    void submit(Object owner, Runnable tasks, Runnable done, Consumer<Throwable> refused) {
        Job before = waiting.put(owner, new Job(tasks, done, refused));
        assert before == null : owner + " has a pending job";
        startNext();
    }

    /// Removes a queued job. A running job continues.
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

    /// Notifies outside the promise, so that exceptions of the callback reach the loop.
    private void ended(Runnable news) {
        running--;
        notifier.accept(news);
        startNext();
    }
}
