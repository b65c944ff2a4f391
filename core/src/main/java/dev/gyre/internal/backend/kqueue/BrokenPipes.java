package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Registrations;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/// Writers of pipes whose readers were gone already when they were registered. The BSDs refuse to
/// watch those, with `EPIPE`; elsewhere they are watched, and an error is reported at once. So we
/// report it ourselves.
///
/// There is at most one a registered descriptor.
final class BrokenPipes {
    private record Broken(long udata, boolean lasts) {}

    private final Runnable wake;

    // Shared: guarded by this. The loop reads `some` without.
    private final Map<Integer, Broken> byNumber = new LinkedHashMap<>();
    private volatile boolean some;

    /// @param wake makes the loop look
    BrokenPipes(Runnable wake) {
        this.wake = wake;
    }

    /// @param lasts whether to report it for as long as it is registered, or once
    void add(long udata, boolean lasts) {
        synchronized (this) {
            byNumber.put(Registrations.numberOf(udata), new Broken(udata, lasts));
            some = true;
        }
        wake.run();
    }

    void forget(int number) {
        if (some) {
            synchronized (this) {
                byNumber.remove(number);
                some = !byNumber.isEmpty();
            }
        }
    }

    /// Loop thread: whether there is anything to report, so that waiting is out of the question.
    boolean isEmpty() {
        return !some;
    }

    /// Loop thread.
    void report(Batch batch) {
        if (!some) {
            return;
        }
        synchronized (this) {
            for (Broken broken : new ArrayList<>(byNumber.values())) {
                if (!batch.hasRoom()) {
                    break;
                }
                batch.add(broken.udata, Readiness.WRITE | Readiness.ERROR, Batch.WRITE);
                int number = Registrations.numberOf(broken.udata);
                byNumber.remove(number);
                if (broken.lasts) {
                    byNumber.put(number, broken); // Behind those that found no room.
                }
            }
            some = !byNumber.isEmpty();
        }
    }
}
