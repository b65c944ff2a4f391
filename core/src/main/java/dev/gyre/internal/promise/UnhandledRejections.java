package dev.gyre.internal.promise;

import dev.gyre.internal.base.Counter;

import java.util.ArrayDeque;
import java.util.function.Consumer;

/// Rejected promises that nobody has reacted to yet: clause P-3. They are looked at when a barrier has run all
/// microtasks, for until then a handler may still come.
///
/// Loop thread only, except for the counter.
public final class UnhandledRejections {
    /// Past this many in one barrier the rest is only counted.
    static final int MOST = 1_024;

    private final ArrayDeque<LoopPromise<?>> suspects = new ArrayDeque<>();
    private int sinceSifted;
    private final Counter reported = new Counter();

    void add(LoopPromise<?> promise) {
        sinceSifted++;
        if (suspects.size() == MOST && sinceSifted >= MOST) {
            suspects.removeIf(LoopPromise::isHandled);
            sinceSifted = 0; // Not each time: they may all be unhandled.
        }
        if (suspects.size() < MOST) {
            suspects.add(promise);
        } else {
            reported.add(1);
        }
    }

    public boolean isEmpty() {
        return suspects.isEmpty();
    }

    /// How many there have been. Any thread.
    public long count() {
        return reported.get();
    }

    /// Hands out those that are still unhandled, each once. What the observer rejects is not among them: it might
    /// do so for ever.
    public void report(Consumer<? super LoopPromise<?>> observer) {
        // It may be emptied earlier: what the observer rejects can lead to a sifting.
        for (int left = suspects.size(); left > 0 && !suspects.isEmpty(); left--) {
            LoopPromise<?> promise = suspects.remove();
            if (!promise.isHandled()) {
                reported.add(1);
                observer.accept(promise);
            }
        }
    }

    /// Forgets them: the loop's end rejects much that nobody waits for.
    void clear() {
        suspects.clear();
    }
}
