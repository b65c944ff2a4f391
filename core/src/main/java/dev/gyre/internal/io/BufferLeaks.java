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

/// Detects buffers that users of a loop do not release, if the system property `gyre.leaks` is on.
/// Each trace records where its buffer was acquired. Either the release or the report removes it
/// from the set, exactly once.
///
/// Loop thread only, except slices and releases.
public final class BufferLeaks {
    private static final String PROPERTY = "gyre.leaks";

    /// Further leaks are reported to the observer, but not kept.
    private static final int MAX_REPORTED = 100;

    // Shared: added to and removed from by any thread.
    private final Set<Trace> tracked = ConcurrentHashMap.newKeySet();

    private final ReferenceQueue<NativeBuffer> unreachable = new ReferenceQueue<>();
    private final Queue<Trace> unreleased = new ArrayDeque<>();
    private final List<Throwable> reported = new ArrayList<>();
    private boolean enabled;

    /// Records where a buffer was acquired. Weak, so that an unreachable buffer is detected.
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
                                    + " bytes was acquired here and never released");
        }

        /// Any thread.
        void released() {
            boolean _ = leaks.tracked.remove(this);
            clear();
        }

        /// Tracks a slice of the buffer. Any thread.
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
                    "the system property " + PROPERTY + " must be on or off, but is " + wanted);
        }
    }

    /// Enables detection unless the property is off, for loops of tests.
    public void enableUnlessOff() {
        enabled = System.getProperty(PROPERTY) == null || enabled;
    }

    void track(NativeBuffer buffer) {
        if (enabled) {
            buffer.trace = trace(buffer);
        }
    }

    private Trace trace(NativeBuffer buffer) {
        Trace trace = new Trace(this, buffer);
        tracked.add(trace);
        return trace;
    }

    /// Counts unreleased buffers as leaks when the loop terminates, except those that operations
    /// own: the user could not release them.
    public void findUnreleased() {
        for (Trace trace : tracked) {
            if (!trace.isInFlight()) {
                unreleased.add(trace);
            }
        }
    }

    /// Returns where the next leaked buffer was acquired; null if no more are known.
    public @Nullable Throwable nextLeak() {
        while (enabled) {
            Trace trace = unreleased.poll();
            Reference<?> lost = trace != null ? trace : unreachable.poll();
            if (lost == null) {
                return null;
            }
            if (tracked.remove(lost)) {
                Throwable acquiredAt = inUsersCode(((Trace) lost).acquiredAt);
                if (reported.size() < MAX_REPORTED) {
                    reported.add(acquiredAt);
                }
                return acquiredAt;
            }
        }
        return null;
    }

    /// Returns the leaks that [#nextLeak()] reported since the last call.
    public List<Throwable> drainReported() {
        List<Throwable> drained = List.copyOf(reported);
        reported.clear();
        return drained;
    }

    /// Removes Gyre's own frames from the top of the stack trace.
    private static Throwable inUsersCode(Throwable acquiredAt) {
        StackTraceElement[] frames = acquiredAt.getStackTrace();
        int first = 0;
        while (first < frames.length - 1 && isOurs(frames[first].getClassName())) {
            first++;
        }
        acquiredAt.setStackTrace(Arrays.copyOfRange(frames, first, frames.length));
        return acquiredAt;
    }

    private static boolean isOurs(String className) {
        return className.startsWith("dev.gyre.internal.")
                || className.equals(Buffer.class.getName());
    }
}
