package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/// A token that is cancelled when one of several roots is.
///
/// A link to a linked token becomes links to the roots of that one. So however tokens are linked, each
/// looks at its roots directly, a root that is reached in two ways is asked once, and no chain is long.
///
/// The roots know of it only while it has listeners. Without any, looking is enough, and there is nothing
/// to release.
public final class LinkedToken implements Cancellation {
    private static final int MOST_ROOTS = 1 << 16;

    private final RootToken[] roots;
    private final CancellationState fate = new CancellationState(new Roots());

    private LinkedToken(RootToken[] roots) {
        this.roots = roots;
    }

    /// The simplest token that is cancelled when one of these is.
    public static Cancellation anyOf(Cancellation... several) {
        List<Cancellation> differing = new ArrayList<>();
        Set<RootToken> roots = Collections.newSetFromMap(new IdentityHashMap<>());
        List<RootToken> inOrder = new ArrayList<>();
        for (int i = 0; i < several.length; i++) {
            Cancellation each = Objects.requireNonNull(several[i], "cancellation " + i);
            if (each.isCancelled()) {
                return each;
            }
            int before = inOrder.size();
            for (RootToken root : rootsOf(each)) {
                if (roots.add(root)) {
                    inOrder.add(root);
                }
            }
            if (inOrder.size() > before) {
                differing.add(each);
            }
        }
        if (inOrder.size() > MOST_ROOTS) {
            throw new IllegalArgumentException(
                    "linked to " + inOrder.size() + " others, but at most " + MOST_ROOTS);
        }
        return switch (differing.size()) {
            case 0 -> NeverCancelled.INSTANCE;
            case 1 -> differing.getFirst();
            default -> new LinkedToken(inOrder.toArray(RootToken[]::new));
        };
    }

    private static RootToken[] rootsOf(Cancellation cancellation) {
        // No switch over types, for which the JDK makes a class at every start.
        if (cancellation instanceof LinkedToken linked) {
            return linked.roots;
        }
        return cancellation instanceof RootToken root ? new RootToken[] {root} : new RootToken[0];
    }

    @Override
    public @Nullable CancelledException reason() {
        CancelledException decided = fate.reason();
        if (decided != null) {
            return decided;
        }
        for (RootToken root : roots) {
            CancelledException reason = root.reason();
            if (reason != null) {
                return fate.decide(reason);
            }
        }
        return null;
    }

    @Override
    public Registration onCancel(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        reason(); // Decides it, if a root is cancelled.
        return fate.listen(callback);
    }

    @Override
    public String toString() {
        return "Cancellation[" + reason() + ", any of " + roots.length + "]";
    }

    /// Its listeners at the roots.
    private final class Roots implements ListenerLifecycle {
        // Shared: guarded by the lock of the fate.
        private final ArrayList<Listener> listeners = new ArrayList<>(0);

        @Override
        public boolean attach() {
            boolean complete = false;
            try {
                complete = addToAll();
            } finally {
                if (!complete) {
                    detach();
                }
            }
            return complete;
        }

        private boolean addToAll() {
            listeners.ensureCapacity(roots.length); // A listener that is added is listed, too.
            for (RootToken root : roots) {
                Listener listener = new Listener(root.fate(), () -> onCancelOf(root));
                if (!root.fate().add(listener)) {
                    return false;
                }
                listeners.add(listener);
            }
            return true;
        }

        @Override
        public void detach() {
            listeners.forEach(Listener::close);
            listeners.clear();
        }

        private void onCancelOf(RootToken root) {
            fate.decide(Objects.requireNonNull(root.reason()));
            fate.tell();
        }
    }
}
