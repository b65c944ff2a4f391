package dev.gyre.stress;

/// A task that does nothing, for tests that only ask whether there is one.
public enum IdleTask implements Runnable {
    IDLE;

    @Override
    public void run() {}
}
