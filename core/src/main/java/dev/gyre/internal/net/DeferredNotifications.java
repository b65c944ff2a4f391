package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.internal.base.TaskRing;

/// What users are told outside of any call of their own, and before the loop waits again: many at a time by one
/// microtask. With one for each, ten thousand streams that end together would use up the budget of several ticks, and
/// look like a microtask that adds another one for ever.
///
/// Loop thread only.
final class DeferredNotifications implements Runnable {
    private static final int AT_ONCE = 256;

    private final EventLoop loop;
    private final TaskRing waiting = new TaskRing("news of streams");
    private boolean planned;

    DeferredNotifications(EventLoop loop) {
        this.loop = loop;
    }

    void add(Runnable news) {
        waiting.add(news);
        plan();
    }

    private void plan() {
        if (!planned) {
            planned = true;
            loop.microtask(this);
        }
    }

    /// Tells what the next microtask is to. One that throws keeps the others from nothing.
    @Override
    public void run() {
        try {
            for (int left = AT_ONCE; left > 0 && !waiting.isEmpty(); left--) {
                waiting.take().run();
            }
        } finally {
            planned = false;
            if (waiting.isEmpty()) {
                waiting.trim();
            } else {
                plan();
            }
        }
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /// Tells the next, now that no microtask will.
    void tellNext() {
        waiting.take().run();
    }
}
