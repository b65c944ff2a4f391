package dev.gyre.internal.backend;

import java.util.ArrayList;
import java.util.List;

/// A handler that keeps the last event it received.
public final class RecordingHandler implements ReadinessHandler {
    private int events;

    @Override
    public void onReady(int events) {
        this.events = events;
    }

    /// The bits of the last event.
    public int events() {
        return events;
    }

    /// Dispatches all collected events to handlers of this class.
    ///
    /// @return the bits of each
    public static List<Integer> dispatchAll(Backend backend) {
        List<Integer> all = new ArrayList<>();
        for (ReadinessHandler handler = backend.dispatchNext();
                handler != null;
                handler = backend.dispatchNext()) {
            all.add(((RecordingHandler) handler).events);
        }
        return all;
    }
}
