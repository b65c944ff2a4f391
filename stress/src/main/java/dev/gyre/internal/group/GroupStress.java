package dev.gyre.internal.group;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopState;
import dev.gyre.PerLoop;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.stress.OneBitBackend;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/// A whole [Group] of one loop without a kernel. The actor that starts the group runs its loop. A
/// group that does not terminate makes a test time out.
public final class GroupStress {
    private static final Duration LONG = Duration.ofDays(1);
    private static final LoopGroupConfig CONFIG =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT.withHighWaterMark(64).withObserver(new LoopObserver() {}));

    // Strongly referenced: a collected logger loses its level.
    private static final Logger LOG = Logger.getLogger("dev.gyre");

    static {
        LOG.setLevel(Level.OFF); // Every injected failure is logged as an error.
    }

    private GroupStress() {}

    /// Runs the loop on the thread that starts the group.
    private static final class ActorHost implements LoopHost {
        // Shared: filled by any actor.
        private final List<Loop> opened = new CopyOnWriteArrayList<>();

        @Override
        public Loop open(int index, LoopConfig config) {
            Loop loop = Loop.open(config, new OneBitBackend());
            opened.add(loop);
            return loop;
        }

        @Override
        public void start(Group group, int index) {
            ThreadHost.runLoops(group, index);
        }

        /// Waits for the release of loops that failed, on another thread.
        String state(Group group) {
            group.shutdown(LONG).toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
            boolean terminated =
                    opened.stream().allMatch(loop -> loop.state() == LoopState.TERMINATED);
            return terminated ? "ended" : "not ended";
        }
    }

    private static String start(Group group) {
        try {
            group.start();
            return "started";
        } catch (IllegalStateException e) {
            return "refused";
        }
    }

    private static void fail() {
        throw new InternalError("injected");
    }

    /// Catches a loop that is started while or after the group closes, and a close that waits for
    /// it.
    @JCStressTest
    @Outcome(id = "started, ended", expect = ACCEPTABLE, desc = "Closed later.")
    @Outcome(id = "refused, ended", expect = ACCEPTABLE, desc = "Closed before.")
    @Outcome(expect = FORBIDDEN, desc = "A loop has not terminated.")
    @State
    public static class StartAgainstClose {
        private final ActorHost host = new ActorHost();
        private final Group group = Group.open(1, CONFIG, host);

        @Actor
        public void starter(LL_Result result) {
            result.r1 = start(group);
        }

        @Actor
        public void closer() {
            group.close();
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = host.state(group);
        }
    }

    /// Catches a loop that replaces a failed one and misses the termination of its group.
    @JCStressTest
    @Outcome(id = "started, ended", expect = ACCEPTABLE, desc = "Shut down later.")
    @Outcome(id = "refused, ended", expect = ACCEPTABLE, desc = "Shut down before.")
    @Outcome(expect = FORBIDDEN, desc = "A loop has not terminated.")
    @State
    public static class FailureAgainstShutdown {
        private final ActorHost host = new ActorHost();
        private final Group group = Group.open(1, CONFIG, host);

        public FailureAgainstShutdown() {
            group.next().submit(GroupStress::fail);
        }

        @Actor
        public void starter(LL_Result result) {
            result.r1 = start(group);
        }

        @Actor
        public void ender() {
            CompletionStage<?> _ = group.shutdown(LONG);
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = host.state(group);
        }
    }

    /// Catches a close that misses a loop, or waits for one that does not terminate.
    @JCStressTest
    @Outcome(id = "started, ended", expect = ACCEPTABLE, desc = "Closed later.")
    @Outcome(id = "refused, ended", expect = ACCEPTABLE, desc = "Closed before.")
    @Outcome(expect = FORBIDDEN, desc = "A loop has not terminated.")
    @State
    public static class FailureAgainstClose {
        private final ActorHost host = new ActorHost();
        private final Group group = Group.open(1, CONFIG, host);

        public FailureAgainstClose() {
            group.next().submit(GroupStress::fail);
        }

        @Actor
        public void starter(LL_Result result) {
            result.r1 = start(group);
        }

        @Actor
        public void closer() {
            group.close();
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = host.state(group);
        }
    }

    /// Catches a loop that replaces a failed one and has no value, or two.
    @JCStressTest
    @Outcome(id = "started, one each", expect = ACCEPTABLE, desc = "The loop has its value.")
    @Outcome(id = "refused, one each", expect = ACCEPTABLE, desc = "Shut down before.")
    @Outcome(expect = FORBIDDEN, desc = "A value is missing, or was created twice.")
    @State
    public static class FailureAgainstPerLoop {
        private final ActorHost host = new ActorHost();
        private final Group group = Group.open(1, CONFIG, host);
        private final List<EventLoop> created = new CopyOnWriteArrayList<>();
        private volatile @Nullable PerLoop<String> values;

        public FailureAgainstPerLoop() {
            group.next().submit(GroupStress::fail);
        }

        @Actor
        public void starter(LL_Result result) {
            result.r1 = start(group);
        }

        @Actor
        public void creator() {
            values =
                    group.perLoop(
                            loop -> {
                                created.add(loop);
                                return "value";
                            });
            CompletionStage<?> _ = group.shutdown(LONG);
        }

        @Arbiter
        public void end(LL_Result result) {
            EventLoop current = group.loops().getFirst();
            // The first loop has no value if it failed before, and the group ended without another.
            boolean present =
                    created.contains(current)
                            ? Objects.requireNonNull(values).get(current).equals("value")
                            : current.equals(host.opened.getFirst());
            boolean unique = created.stream().distinct().count() == created.size();
            result.r2 = present && unique ? "one each" : "created " + created;
        }
    }
}
