package dev.gyre.http.internal.coding;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// Coders to be used again, and a bound on how many there are: each has native memory.
///
/// **Threads.** Any.
public final class GzipCoders {
    /// So many wait to be used again; the rest is freed.
    private static final int MOST_IDLE = 16;

    private final int level;
    private final int most;

    // Shared: guarded by this.
    private final ArrayDeque<GzipCoder> idle = new ArrayDeque<>();
    private int inUse;

    /// @param level from 1 to 9
    /// @param most how many may be in use at a time
    public GzipCoders(int level, int most) {
        if (level < 1 || level > 9) {
            throw new IllegalArgumentException("a level is from 1 to 9, not " + level);
        }
        this.level = level;
        this.most = most;
    }

    /// One that nobody else has; null if too many are in use.
    public synchronized @Nullable GzipCoder tryTake() {
        if (inUse == most) {
            return null;
        }
        inUse++;
        GzipCoder known = idle.pollLast();
        return known != null ? known : new GzipCoder(level);
    }

    /// Nobody uses it any more.
    public synchronized void giveBack(GzipCoder coder) {
        inUse--;
        if (idle.size() < MOST_IDLE) {
            coder.reset();
            idle.addLast(coder);
        } else {
            coder.close();
        }
    }

    /// How many are in use.
    public synchronized int inUse() {
        return inUse;
    }
}
