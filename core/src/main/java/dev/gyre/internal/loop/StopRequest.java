package dev.gyre.internal.loop;

/// A request that the current run return, or the next one if there is none. Kept until a run honours it.
public final class StopRequest {
    // Shared: set by any thread, taken back by the loop thread.
    private volatile boolean requested;

    // Loop thread only.
    private boolean noticed;

    /// Any thread. With the effect of a full fence.
    public void request() {
        requested = true;
    }

    /// Loop thread: whether it was requested. From then on it no longer keeps the loop from sleeping, as
    /// a run that drains first may have to.
    boolean notice() {
        noticed = requested;
        return noticed;
    }

    /// Loop thread: whether there is a request that [#notice()] has not told yet.
    boolean isNews() {
        return requested && !noticed;
    }

    /// Loop thread, when a run returns: the request is used up.
    void honour() {
        if (notice()) {
            requested = false;
            noticed = false;
        }
    }
}
