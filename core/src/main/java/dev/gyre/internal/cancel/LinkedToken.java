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

/// A token that is cancelled when one of several roots is. A root is a source or a deadline.
///
/// A link to a linked token becomes links to that token's roots. So each token queries its roots
/// directly, queries each root once, and chains do not grow.
///
/// The roots reference the token only while it has listeners. Without listeners, queries suffice
/// and nothing has to be released.
public final class LinkedToken extends CancellationToken {
    private static final int MAX_ROOTS = 1 << 16;

    private final CancellationToken[] roots;

    // Shared: guarded by the lock.
    private final ArrayList<Listener> rootListeners = new ArrayList<>(0);

    private LinkedToken(CancellationToken[] roots) {
        this.roots = roots;
    }

    /// Returns the simplest token that is cancelled when one of the given ones is.
    public static Cancellation anyOf(Cancellation... several) {
        List<Cancellation> distinct = new ArrayList<>();
        Set<CancellationToken> roots = Collections.newSetFromMap(new IdentityHashMap<>());
        List<CancellationToken> inOrder = new ArrayList<>();
        for (int i = 0; i < several.length; i++) {
            Cancellation each = Objects.requireNonNull(several[i], "cancellation " + i);
            if (each.isCancelled()) {
                return each;
            }
            int before = inOrder.size();
            for (CancellationToken root : rootsOf(each)) {
                if (roots.add(root)) {
                    inOrder.add(root);
                }
            }
            if (inOrder.size() > before) {
                distinct.add(each);
            }
        }
        if (inOrder.size() > MAX_ROOTS) {
            throw new IllegalArgumentException(
                    "linked to " + inOrder.size() + " others, but at most " + MAX_ROOTS);
        }
        return switch (distinct.size()) {
            case 0 -> NeverCancelled.INSTANCE;
            case 1 -> distinct.getFirst();
            default -> new LinkedToken(inOrder.toArray(CancellationToken[]::new));
        };
    }

    private static CancellationToken[] rootsOf(Cancellation cancellation) {
        // No switch over types: the JDK generates a class for it at every start.
        if (cancellation instanceof LinkedToken linked) {
            return linked.roots;
        }
        return cancellation instanceof CancellationToken root
                ? new CancellationToken[] {root}
                : new CancellationToken[0];
    }

    @Override
    public @Nullable CancelledException reason() {
        CancelledException known = super.reason();
        if (known != null) {
            return known;
        }
        for (CancellationToken root : roots) {
            CancelledException reason = root.reason();
            if (reason != null) {
                return setReason(reason);
            }
        }
        return null;
    }

    @Override
    boolean attach() {
        boolean complete = false;
        try {
            rootListeners.ensureCapacity(roots.length); // A listener that was added must be listed.
            for (CancellationToken root : roots) {
                Listener listener = new Listener(root, () -> onRootCancelled(root));
                if (!root.add(listener)) {
                    return false;
                }
                rootListeners.add(listener);
            }
            complete = true;
        } finally {
            if (!complete) {
                detach();
            }
        }
        return true;
    }

    @Override
    void detach() {
        rootListeners.forEach(Listener::close);
        rootListeners.clear();
    }

    private void onRootCancelled(CancellationToken root) {
        setReason(Objects.requireNonNull(root.reason()));
        notifyListeners();
    }

    @Override
    public String toString() {
        return "Cancellation[" + reason() + ", any of " + roots.length + "]";
    }
}
