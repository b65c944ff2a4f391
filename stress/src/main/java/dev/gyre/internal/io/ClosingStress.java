package dev.gyre.internal.io;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.base.StressLoopContext;
import dev.gyre.io.ClosedDescriptorException;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LII_Result;

/// A descriptor that is closed on one thread while the loop on another watches it, hears of it,
/// or lets it go. Results: what the loop saw, how many calls reached the kernel after the number
/// was given back, and how many watchers are left.
public final class ClosingStress {
    private ClosingStress() {}

    /// A loop's watchers and one descriptor.
    private static final class Scene extends StressLoopContext {
        final NumberedKernel backend = new NumberedKernel();
        final Watchers watchers = new Watchers(backend, this);
        final OpenDescriptor descriptor =
                OpenDescriptor.fresh(() -> backend.kernel, NumberedKernel.FD, true);

        /// The loop's actor only: whether a callback has run.
        boolean told;

        // Shared: written by the closing actor when close has returned, read by the loop's.
        volatile boolean closed;

        final WatchSpec reading = WatchSpec.reading(watcher -> told = true);

        LoopWatcher watch() {
            return (LoopWatcher) watchers.watch(descriptor, reading);
        }

        void close() {
            descriptor.close();
            closed = true;
        }

        void rest(LII_Result result) {
            result.r2 = backend.kernel.late();
            result.r3 = watchers.size() + watchers.referenced() + (backend.isRegistered() ? 1 : 0);
        }
    }

    /// Catches a number that is registered after it was given back, and a watcher that nobody
    /// ends because it was added while its descriptor looked for those to end.
    @JCStressTest
    @Outcome(id = "watched, 0, 0", expect = ACCEPTABLE, desc = "Watched, then closed.")
    @Outcome(id = "refused, 0, 0", expect = ACCEPTABLE, desc = "Closed, then refused.")
    @Outcome(expect = FORBIDDEN, desc = "Somebody else's number, or a watcher left over.")
    @State
    public static class WatchAgainstClose {
        private final Scene scene = new Scene();

        @Actor
        public void loop(LII_Result result) {
            try {
                scene.watch();
                result.r1 = "watched";
            } catch (ClosedDescriptorException e) {
                result.r1 = "refused";
            }
        }

        @Actor
        public void closer() {
            scene.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }

    /// Catches a callback for a descriptor whose close had returned before its event was taken.
    @JCStressTest
    @Outcome(id = "told, 0, 0", expect = ACCEPTABLE, desc = "Dispatch had begun before the close.")
    @Outcome(id = "dropped, 0, 0", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "Told of what was closed, or a call too late.")
    @State
    public static class DispatchAgainstClose {
        private final Scene scene = new Scene();
        private final LoopWatcher watcher = scene.watch();

        @Actor
        public void loop(LII_Result result) {
            boolean closedBefore = scene.closed;
            watcher.onReady(Readiness.READ);
            if (watcher.nextCallback()) {
                watcher.runCallback();
            }
            result.r1 = !scene.told ? "dropped" : closedBefore ? "told too late" : "told";
        }

        @Actor
        public void closer() {
            scene.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }

    /// Catches a removal that both carry out, the loop's one after the number was given back, and
    /// counts that go down twice.
    @JCStressTest
    @Outcome(id = "done, 0, 0", expect = ACCEPTABLE, desc = "Removed once, by whoever was first.")
    @Outcome(expect = FORBIDDEN, desc = "Somebody else's number, or a wrong count.")
    @State
    public static class UnwatchAgainstClose {
        private final Scene scene = new Scene();

        public UnwatchAgainstClose() {
            scene.watch();
        }

        @Actor
        public void loop(LII_Result result) {
            scene.watchers.unwatch(scene.descriptor);
            result.r1 = "done";
        }

        @Actor
        public void closer() {
            scene.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }

    /// Catches a change of interest that is made in the kernel after the number was given back,
    /// and one that brings a watcher back into the counts.
    @JCStressTest
    @Outcome(
            id = "modified, 0, 0",
            expect = ACCEPTABLE,
            desc = "Before the close, or in its middle.")
    @Outcome(id = "refused, 0, 0", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "Somebody else's number, or a wrong count.")
    @State
    public static class ModifyAgainstClose {
        private final Scene scene = new Scene();
        private final LoopWatcher watcher = scene.watch();

        @Actor
        public void loop(LII_Result result) {
            try {
                watcher.modify(WatchSpec.nothing());
                watcher.modify(scene.reading);
                result.r1 = "modified";
            } catch (IllegalStateException e) {
                result.r1 = "refused";
            }
        }

        @Actor
        public void closer() {
            scene.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }

    /// Catches a watcher that is replaced while its descriptor closes, and a removal that takes
    /// the new one along or forgets it.
    @JCStressTest
    @Outcome(id = "watched, 0, 0", expect = ACCEPTABLE, desc = "Replaced, then closed.")
    @Outcome(id = "refused, 0, 0", expect = ACCEPTABLE, desc = "Closed, then refused.")
    @Outcome(expect = FORBIDDEN, desc = "Somebody else's number, or a watcher left over.")
    @State
    public static class ReplaceAgainstClose {
        private final Scene scene = new Scene();

        public ReplaceAgainstClose() {
            scene.watch();
        }

        @Actor
        public void loop(LII_Result result) {
            try {
                scene.watch();
                result.r1 = "watched";
            } catch (ClosedDescriptorException e) {
                result.r1 = "refused";
            }
        }

        @Actor
        public void closer() {
            scene.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }
}
