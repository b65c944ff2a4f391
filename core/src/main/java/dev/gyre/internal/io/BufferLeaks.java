package dev.gyre.internal.io;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Finds the buffers that users of a loop do not give back, if the system property asks for it.
/// Each remembers where it was taken, and whoever takes its trace out of the set, by releasing or
/// by telling of it, is the only one.
///
/// Loop thread only, but for slices and releases.
public final class BufferLeaks {
    private static final String PROPERTY = "gyre.leaks";

    /// More than this are told of, but not remembered.
    private static final int MAX_REPORTED = 100;

    // Shared: added to by whoever takes or slices, taken from by whoever releases, and by the loop.
    private final Set<Trace> tracked = ConcurrentHashMap.newKeySet();

    private final ReferenceQueue<NativeBuffer> unreachable = new ReferenceQueue<>();
    private final Queue<Trace> unreleased = new ArrayDeque<>();
    private final List<Throwable> reported = new ArrayList<>();
    private boolean enabled;

    /// What is known of a buffer that is out. Weak, so that a dropped buffer is found.
    static final class Trace extends WeakReference<NativeBuffer> {
        private final BufferLeaks leaks;
        private final Throwable acquiredAt;

        private Trace(BufferLeaks leaks, NativeBuffer buffer) {
            super(buffer, leaks.unreachable);
            this.leaks = leaks;
            acquiredAt =
                    new Throwable(
                            "a buffer of "
                                    + buffer.capacity()
                                    + " bytes was taken here, and never released");
        }

        /// Any thread.
        void released() {
            boolean _ = leaks.tracked.remove(this);
            clear();
        }

        /// The same of a slice. Any thread.
        Trace ofSlice(NativeBuffer slice) {
            return leaks.trace(slice);
        }

        private boolean isInFlight() {
            NativeBuffer buffer = get();
            return buffer != null && buffer.isInFlight();
        }
    }

    BufferLeaks() {
        String wanted = System.getProperty(PROPERTY, "off");
        enabled = wanted.equals("on");
        if (!enabled && !wanted.equals("off")) {
            throw new IllegalArgumentException(
                    "the system property " + PROPERTY + " is on or off, not " + wanted);
        }
    }

    /// For loops of tests: looks for leaks unless the property says off.
    public void enableUnlessOff() {
        enabled = System.getProperty(PROPERTY) == null || enabled;
    }

    /// A user has it from now on.
    void track(NativeBuffer buffer) {
        if (enabled) {
            buffer.trace(trace(buffer));
        }
    }

    private Trace trace(NativeBuffer buffer) {
        Trace trace = new Trace(this, buffer);
        tracked.add(trace);
        return trace;
    }

    /// The loop ends: what is still out has leaked. Not what an operation has, which nobody could
    /// have released.
    public void findUnreleased() {
        for (Trace trace : tracked) {
            if (!trace.isInFlight()) {
                unreleased.add(trace);
            }
        }
    }

    /// The next that nobody was told of: where it was taken.
    public @Nullable Throwable nextLeak() {
        while (enabled) {
            Trace trace = unreleased.poll();
            Reference<?> lost = trace != null ? trace : unreachable.poll();
            if (lost == null) {
                return null;
            }
            if (tracked.remove(lost)) {
                Throwable takenAt = inUsersCode(((Trace) lost).acquiredAt);
                if (reported.size() < MAX_REPORTED) {
                    reported.add(takenAt);
                }
                return takenAt;
            }
        }
        return null;
    }

    /// What [#nextLeak()] has told of, since this was last asked.
    public List<Throwable> drainReported() {
        List<Throwable> taken = List.copyOf(reported);
        reported.clear();
        return taken;
    }

    /// Begins where the user's code called ours.
    private static Throwable inUsersCode(Throwable takenAt) {
        StackTraceElement[] frames = takenAt.getStackTrace();
        int first = 0;
        while (first < frames.length - 1 && isOurs(frames[first].getClassName())) {
            first++;
        }
        takenAt.setStackTrace(Arrays.copyOfRange(frames, first, frames.length));
        return takenAt;
    }

    private static boolean isOurs(String className) {
        return className.startsWith("dev.gyre.internal.")
                || className.equals(Buffer.class.getName());
    }
}
