package dev.gyre.testkit.internal;

import dev.gyre.testkit.Trace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/// Writes down what happens: the last lines as they are, all of them in a digest.
public final class Recorder {
    /// So many of the latest are kept.
    private static final int MOST_LINES = 10_000;

    private static final long FNV_PRIME = 0x100000001b3L;

    // Guarded by the kernel's lock.
    private final Agenda agenda;
    private final Deque<String> lines = new ArrayDeque<>();
    private long digest = 0xcbf29ce484222325L;
    private long total;

    Recorder(Agenda agenda) {
        this.agenda = agenda;
    }

    void note(String what) {
        String line = "+" + (agenda.nowNanos() - Agenda.START_NANOS) + " " + what;
        for (int i = 0; i < line.length(); i++) {
            digest = (digest ^ line.charAt(i)) * FNV_PRIME;
        }
        digest ^= digest >>> 29; // So that the high bits reach the low ones too.
        total++;
        if (lines.size() == MOST_LINES) {
            lines.remove();
        }
        lines.add(line);
    }

    Trace snapshot() {
        return new Trace(List.copyOf(lines), total, digest);
    }

    /// A short name for bytes, so that a trace tells two runs apart that moved different ones.
    static String nameOf(byte[] bytes, int offset, int length) {
        int hash = 0;
        for (int i = offset; i < offset + length; i++) {
            hash = 31 * hash + bytes[i];
        }
        return "#" + Integer.toHexString(hash);
    }
}
