package dev.gyre.http.internal.memory;

import dev.gyre.EventLoop;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// Limits the heap that a loop holds on behalf of clients: bodies being collected, incomplete
/// messages, and arrays that wait to be sent. Each of them has a limit per client. The budget
/// limits their sum, so that many clients together cannot exhaust the heap.
///
/// Each loop has one budget. All servers, HTTP clients and WebSockets of the loop share it. Its
/// limit is a quarter of the heap divided by the number of processors, because there is about one
/// loop per processor. The limit is never above the loop's buffer memory. On machines with many
/// processors it is at least the maximum of one client, or an eighth of the heap if that is less.
///
/// **Threads.** Any: blocking handlers fill buffers, too.
public final class HeapBudget {
    /// A response of the maximum length, and the body that it was made from.
    static final long MIN_BYTES = 2L * (8 << 20);

    /// Shared: by all threads, under its own lock. The budget does not refer to its loop, so a
    /// closed loop can be collected.
    private static final Map<EventLoop, HeapBudget> BY_LOOP =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final long limitBytes;

    // Shared: by the loop and the threads of blocking handlers.
    private final AtomicLong usedBytes = new AtomicLong();

    HeapBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /// Returns the budget of a loop.
    public static HeapBudget of(EventLoop loop) {
        return BY_LOOP.computeIfAbsent(loop, HeapBudget::create);
    }

    private static HeapBudget create(EventLoop loop) {
        Runtime machine = Runtime.getRuntime();
        return new HeapBudget(
                limit(
                        machine.maxMemory(),
                        machine.availableProcessors(),
                        loop.config().bufferMemory()));
    }

    static long limit(long heapBytes, int processors, long bufferMemory) {
        long min = Math.min(MIN_BYTES, heapBytes / 8);
        return Math.min(bufferMemory, Math.max(min, heapBytes / (4L * processors)));
    }

    /// Acquires bytes if the budget has enough left.
    ///
    /// @return false if it has not; nothing is acquired then
    public boolean tryAcquire(long bytes) {
        assert bytes >= 0 : "cannot acquire " + bytes + " bytes";
        long used = usedBytes.get();
        while (bytes <= limitBytes - used) {
            if (usedBytes.compareAndSet(used, used + bytes)) {
                return true;
            }
            used = usedBytes.get();
        }
        return false;
    }

    /// Releases acquired bytes.
    public void release(long bytes) {
        long left = usedBytes.addAndGet(-bytes);
        assert bytes >= 0 && left >= 0 : "released " + bytes + " of " + (left + bytes);
    }

    public long usedBytes() {
        return usedBytes.get();
    }

    public long limitBytes() {
        return limitBytes;
    }
}
