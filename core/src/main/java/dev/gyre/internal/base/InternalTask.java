package dev.gyre.internal.base;

/// A task of the loop's own components in its priority lane. It counts as no callback, and a loop
/// that terminates runs it instead of dropping it.
public final class InternalTask implements Runnable {
    private final Runnable body;

    public InternalTask(Runnable body) {
        this.body = body;
    }

    @Override
    public void run() {
        body.run();
    }
}
