package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.function.Supplier;

/// Checks whether an object is still reachable, for leak tests.
public final class Reachability {
    /// A collector may need several cycles.
    private static final int ROUNDS = 100;

    private final WeakReference<Object> reference;

    private Reachability(Object object) {
        reference = new WeakReference<>(object);
    }

    /// Tracks the object that the supplier creates. Created here, so no local variable of the test
    /// references it.
    public static Reachability of(Supplier<?> supplier) {
        return new Reachability(supplier.get());
    }

    /// Returns whether it is collected after one cycle.
    public boolean isLost() {
        System.gc();
        return reference.refersTo(null);
    }

    public void assertLost(String what) {
        for (int round = 0; round < ROUNDS && !isLost(); round++) {
            Thread.onSpinWait();
        }
        assertThat(reference.refersTo(null))
                .as("%s is still reachable after %d collections: who holds it?", what, ROUNDS)
                .isTrue();
    }
}
