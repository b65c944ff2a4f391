package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.cli.serve.WebServer;
import dev.gyre.metrics.LoopMetrics;

import java.time.Duration;

/// Collects garbage when a server is quiet after a burst. The serial collector runs only when the
/// heap is full, so an idle server would keep the garbage of a burst.
///
/// Loop thread only.
final class IdleHeapTrimmer {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /// A server that allocates less than this between two checks is quiet.
    private static final long QUIET_BYTES = 256 << 10;

    /// Less garbage than this is not worth a pause.
    private static final long MIN_GARBAGE_BYTES = 8 << 20;

    /// Above this size, the user has chosen a heap and its collector.
    private static final long MAX_HEAP_BYTES = 512 << 20;

    /// The maximum of checks skipped after a collection that freed little.
    private static final int MAX_SKIPPED = 32;

    private final WebServer web;
    private final Runtime runtime = Runtime.getRuntime();
    private long used = usedBytes();

    /// The minimum in use after a collection, or at the start.
    private long minUsed = used;

    private long operationsAtCollection;
    private int backoff;
    private int skipped;

    private IdleHeapTrimmer(WebServer web) {
        this.web = web;
    }

    /// Checks on the first loop, or on the one that replaces it.
    static void watch(WebServer web) {
        IdleHeapTrimmer heap = new IdleHeapTrimmer(web);
        if (heap.runtime.maxMemory() <= MAX_HEAP_BYTES) {
            var _ = web.group().perLoop(heap::start);
        }
    }

    private boolean start(EventLoop loop) {
        boolean first = loop.equals(web.group().loops().getFirst());
        if (first) {
            loop.every(INTERVAL, _ -> check()).unreference();
        }
        return first;
    }

    private void check() {
        long now = usedBytes();
        boolean quiet = Math.abs(now - used) < QUIET_BYTES;
        used = now;
        long operations = web.sum(LoopMetrics::operationsCompleted);
        if (quiet
                && now - minUsed > MIN_GARBAGE_BYTES
                && operations != operationsAtCollection
                && ++skipped > backoff) {
            operationsAtCollection = operations;
            collect();
        }
    }

    private void collect() {
        long before = used;
        System.gc();
        used = usedBytes();
        minUsed = Math.min(minUsed, used);
        skipped = 0;
        // Live objects do not become garbage by retrying.
        backoff = before - used > MIN_GARBAGE_BYTES ? 0 : Math.min(MAX_SKIPPED, 2 * backoff + 1);
    }

    private long usedBytes() {
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
