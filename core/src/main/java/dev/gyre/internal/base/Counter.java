package dev.gyre.internal.base;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A count with one writer and any number of readers. Opaque stores: whole, in order, and as cheap as
/// plain ones, so that being watched costs the loop nothing.
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
