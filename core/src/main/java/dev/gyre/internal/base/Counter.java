package dev.gyre.internal.base;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A count with one writer and any number of readers. Opaque stores are atomic and coherent and
/// cost as little as plain ones, so readers do not slow the loop down.
public final class Counter {
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Shared: written by one thread, read by any.
    private long value;

    public void add(long amount) {
        VALUE.setOpaque(this, value + amount);
    }

    public long get() {
        return (long) VALUE.getOpaque(this);
    }
}
