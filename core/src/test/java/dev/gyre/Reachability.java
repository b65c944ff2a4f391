package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.function.Supplier;

/// Whether an object can still be reached: for tests that nothing is kept.
public final class Reachability {
    /// A collector may need more than one round, but not many.
    private static final int ROUNDS = 100;

    private final WeakReference<Object> reference;

    private Reachability(Object object) {
        reference = new WeakReference<>(object);
    }

    /// Of what the supplier makes. It is made in there so that no local variable of the test holds it.
    public static Reachability of(Supplier<?> supplier) {
        return new Reachability(supplier.get());
    }

    /// Whether it is gone after one round.
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
