package dev.gyre.testkit.internal;

import dev.gyre.testkit.Trace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/// Records events: the latest lines as text, all of them in a digest.
public final class TraceRecorder {
    /// The number of lines kept.
    private static final int MAX_LINES = 10_000;

    private static final long FNV_PRIME = 0x100000001b3L;

    // Guarded by the kernel's lock.
    private final EventSchedule schedule;
    private final Deque<String> lines = new ArrayDeque<>();
    private long digest = 0xcbf29ce484222325L;
    private long total;

    TraceRecorder(EventSchedule schedule) {
        this.schedule = schedule;
    }

    void note(String what) {
        String line = "+" + (schedule.nowNanos() - EventSchedule.START_NANOS) + " " + what;
        for (int i = 0; i < line.length(); i++) {
            digest = (digest ^ line.charAt(i)) * FNV_PRIME;
        }
        digest ^= digest >>> 29; // Mixes the high bits into the low ones.
        total++;
        if (lines.size() == MAX_LINES) {
            lines.remove();
        }
        lines.add(line);
    }

    Trace snapshot() {
        return new Trace(List.copyOf(lines), total, digest);
    }

    /// Returns a hash of bytes, so that traces of different bytes differ.
    static String nameOf(byte[] bytes, int offset, int length) {
        int hash = 0;
        for (int i = offset; i < offset + length; i++) {
            hash = 31 * hash + bytes[i];
        }
        return "#" + Integer.toHexString(hash);
    }
}
