package dev.gyre.os;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// How a process ended, once that is known, and who is to be told.
final class ExitNotifier {
    private final Loop loop;

    // Loop thread only.
    private final List<Consumer<? super Exit>> callbacks = new ArrayList<>();
    private @Nullable Exit exit;

    /// Made when it is first asked for: a promise that nobody wants would be counted as pending when the
    /// loop ends.
    private @Nullable Deferred<Exit> promised;

    ExitNotifier(Loop loop) {
        this.loop = loop;
    }

    boolean isKnown() {
        return exit != null;
    }

    /// Tells everybody, later in this turn or in the next.
    void becomes(Exit how) {
        exit = how;
        for (Consumer<? super Exit> callback : callbacks) {
            loop.defer(() -> callback.accept(how));
        }
        callbacks.clear();
    }

    void tell(Consumer<? super Exit> callback) {
        Exit known = exit;
        if (known == null) {
            callbacks.add(callback);
        } else {
            loop.defer(() -> callback.accept(known));
        }
    }

    Promise<Exit> promise() {
        Deferred<Exit> made = promised;
        if (made == null) {
            loop.requireOpenWithStack("exited");
            made = loop.deferred();
            promised = made;
            if (exit == null) {
                callbacks.add(made::resolve); // In its place among the callbacks.
            } else {
                made.resolve(exit);
            }
        }
        return made.promise();
    }
}
