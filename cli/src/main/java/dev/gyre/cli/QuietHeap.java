package dev.gyre.cli;

import dev.gyre.cli.serve.ServerLoops;
import dev.gyre.metrics.LoopMetrics;

import java.time.Duration;

/// Collects garbage when a server is quiet after a burst. The serial collector runs only when the heap
/// is full, so a server would keep what long messages have left there for as long as it idles.
///
/// Loop thread only.
final class QuietHeap {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /// A server that allocates less than this between two looks is quiet.
    private static final long QUIET_BYTES = 256 << 10;

    /// Less garbage than this is not worth a pause.
    private static final long MIN_GARBAGE_BYTES = 8 << 20;

    /// A larger heap belongs to someone who has chosen its collector.
    private static final long MAX_HEAP_BYTES = 512 << 20;

    /// How many looks are skipped at most after a collection that freed little.
    private static final int MAX_SKIPPED = 32;

    private final ServerLoops loops;
    private final Runtime runtime = Runtime.getRuntime();
    private long used = usedBytes();

    /// The least that was used after a collection, or at the start.
    private long minUsed = used;

    private long operationsAtCollection;
    private int backoff;
    private int skipped;

    private QuietHeap(ServerLoops loops) {
        this.loops = loops;
    }

    static void watch(ServerLoops loops) {
        QuietHeap heap = new QuietHeap(loops);
        if (heap.runtime.maxMemory() <= MAX_HEAP_BYTES) {
            loops.first().every(INTERVAL, _ -> heap.check()).unreference();
        }
    }

    private void check() {
        long now = usedBytes();
        boolean quiet = Math.abs(now - used) < QUIET_BYTES;
        used = now;
        long operations = loops.sum(LoopMetrics::operationsCompleted);
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
        // What is live does not become garbage by trying often.
        backoff = before - used > MIN_GARBAGE_BYTES ? 0 : Math.min(MAX_SKIPPED, 2 * backoff + 1);
    }

    private long usedBytes() {
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
