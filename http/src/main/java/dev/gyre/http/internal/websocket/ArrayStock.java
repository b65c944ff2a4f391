package dev.gyre.http.internal.websocket;

import java.util.ArrayList;
import java.util.List;

/// Long arrays that are used again: made anew for each message, those of a megabyte would go straight to the old
/// generation of the heap, which grows to its limit before anybody looks for garbage there.
///
/// A few are kept, none of them beyond what a message of the usual limit needs, and none that nobody has asked for in
/// a while.
///
/// Loop thread only.
final class ArrayStock {
    /// Arrays up to this are cheap to make, and die young; the workbench has its own of that length.
    static final int STEP_BYTES = 64 << 10;

    /// A message of 1 MiB, and what compression may add to it.
    static final int MOST_KEPT_BYTES = (1 << 20) + (256 << 10);

    private static final int MOST_ARRAYS = 4;

    // Loop thread only.
    private final List<byte[]> spare = new ArrayList<>(MOST_ARRAYS);
    private boolean used;

    /// The smallest that is long enough, or a new one.
    byte[] take(int leastBytes) {
        used = true;
        int best = -1;
        for (int i = 0; i < spare.size(); i++) {
            int length = spare.get(i).length;
            if (length >= leastBytes && (best < 0 || length < spare.get(best).length)) {
                best = i;
            }
        }
        return best >= 0 ? spare.remove(best) : new byte[rounded(leastBytes)];
    }

    private static int rounded(int bytes) {
        return bytes > Integer.MAX_VALUE - STEP_BYTES
                ? bytes
                : Math.max(1, bytes + STEP_BYTES - 1 & -STEP_BYTES);
    }

    /// Takes one back; what is in it is nobody's any more. Short ones are left alone, whose ever they are.
    void give(byte[] array) {
        if (array.length <= STEP_BYTES || array.length > MOST_KEPT_BYTES) {
            return;
        }
        spare.add(array);
        if (spare.size() > MOST_ARRAYS) {
            int shortest = 0;
            for (int i = 1; i < spare.size(); i++) {
                if (spare.get(i).length < spare.get(shortest).length) {
                    shortest = i;
                }
            }
            spare.remove(shortest);
        }
    }

    /// Drops all of them, unless one was asked for since this was called last.
    ///
    /// @return whether they were dropped
    boolean dropIfUnused() {
        if (used) {
            used = false;
            return false;
        }
        spare.clear();
        return true;
    }

    /// How many bytes are kept.
    int keptBytes() {
        return spare.stream().mapToInt(each -> each.length).sum();
    }
}
