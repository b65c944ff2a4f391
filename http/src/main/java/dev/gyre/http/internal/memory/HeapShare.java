package dev.gyre.http.internal.memory;

import dev.gyre.EventLoop;

/// What a loop holds of the heap because peers made it: content that is collected, messages that are not whole yet, arrays that
/// wait to be taken. Each of these has a limit for one peer; this is the limit for all of them, so that many peers
/// together cannot use up the heap, at whose end the loop would end, and everybody with it.
///
/// The heap of a process is shared by its loops, of which there is about one a processor, and by all that is not counted here: a share is
/// a quarter of the heap divided by the processors, and at most the loop's native memory. On a
/// machine with many processors it is at least the maximum of one client, or an eighth of the heap
/// if that is less.
///
/// Loop thread only.
public final class HeapShare {
    /// The longest answer at once, and content of the same length that it is made of.
    static final long LEAST_BYTES = 2L * (8 << 20);

    private final long limitBytes;
    private long takenBytes;

    HeapShare(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /// A share for what is done on a loop.
    public static HeapShare of(EventLoop loop) {
        Runtime machine = Runtime.getRuntime();
        return new HeapShare(
                limit(
                        machine.maxMemory(),
                        machine.availableProcessors(),
                        loop.config().bufferMemory()));
    }

    static long limit(long heapBytes, int processors, long nativeBytes) {
        long least = Math.min(LEAST_BYTES, heapBytes / 8);
        return Math.min(nativeBytes, Math.max(least, heapBytes / (4L * processors)));
    }

    /// Takes so much, if there is as much left.
    ///
    /// @return whether there was; nothing is taken if not
    public boolean take(long bytes) {
        assert bytes >= 0 : "a share of " + bytes;
        if (bytes > limitBytes - takenBytes) {
            return false;
        }
        takenBytes += bytes;
        return true;
    }

    /// Gives back what was taken.
    public void give(long bytes) {
        assert bytes >= 0 && bytes <= takenBytes : bytes + " of " + takenBytes;
        takenBytes -= bytes;
    }

    public long takenBytes() {
        return takenBytes;
    }

    public long limitBytes() {
        return limitBytes;
    }
}
