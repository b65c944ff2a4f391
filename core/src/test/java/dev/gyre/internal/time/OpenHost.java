package dev.gyre.internal.time;

/// A host that lets everyone pass and whose time stands at zero.
public final class OpenHost implements TimerHost {
    @Override
    public void requireConfined(String method) {}

    @Override
    public void requireOpen(String method) {}

    @Override
    public long nowNanos() {
        return 0;
    }
}
