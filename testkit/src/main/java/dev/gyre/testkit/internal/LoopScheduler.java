package dev.gyre.testkit.internal;

import dev.gyre.LoopConfig;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopState;
import dev.gyre.internal.group.Group;
import dev.gyre.internal.group.LoopHost;
import dev.gyre.internal.loop.Loop;
import dev.gyre.testkit.SimulationError;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/// Runs the loops of a world on the thread of the test: the world's own loop, and the loops of
/// groups.
///
/// A single loop advances the clock itself while it is idle. Several loops run in rounds. In each
/// round every loop runs one tick, in an order that follows from the seed. When rounds run nothing
/// any more, the clock advances to the next event, or to the earliest timer of any loop.
///
/// A loop of a group drains on a worker thread, because a drain waits. While it waits,
/// the other loops run.
public final class LoopScheduler {
    /// The longest single wait of a loop.
    private static final Duration MAX_WAIT = Duration.ofDays(1);

    /// More runs at one instant are a livelock.
    private static final int MAX_RUNS = 1_000_000;

    private static final int IDLE_RUNS = 2;

    private final SimulatedKernel kernel;
    private final Member own;
    private final List<Group> groups = new ArrayList<>();

    /// The loops to run: the world's own, and those of started groups.
    private final List<Member> members = new ArrayList<>();

    /// The loops to check for leaks. A loop that failed is not included.
    private final List<Loop> checked = new ArrayList<>();

    /// An exception of a drain, which leaves the next run of the world.
    private @Nullable Throwable failure;

    private static final class Member {
        private final Loop loop;

        /// Null for the world's own loop.
        private final @Nullable GroupHost host;

        /// Whether a worker thread runs the loop to its end.
        private boolean draining;

        /// Whether another loop has replaced it.
        private boolean replaced;

        private Member(Loop loop, @Nullable GroupHost host) {
            this.loop = loop;
            this.host = host;
        }

        private boolean isTerminated() {
            return loop.state() == LoopState.TERMINATED;
        }

        private boolean isRunnable() {
            return !draining && loop.state() == LoopState.AWAKE;
        }
    }

    public LoopScheduler(SimulatedKernel kernel, LoopConfig config) {
        this.kernel = kernel;
        own = new Member(open(config), null);
        members.add(own);
    }

    /// Returns the world's own loop.
    public Loop loop() {
        return own.loop;
    }

    public Group openGroup(int size, LoopGroupConfig config) {
        Group group = Group.open(size, config, new GroupHost());
        groups.add(group);
        return group;
    }

    private Loop open(LoopConfig config) {
        LoopConfig simulated = config.withExecutor(kernel.workers()).withMaxWait(MAX_WAIT);
        Loop loop =
                Loop.open(
                        simulated,
                        new SimulatedBackend(kernel, config.eventsPerWait(), MAX_WAIT.toNanos()));
        loop.operations().leaks().enableUnlessOff();
        checked.add(loop);
        return loop;
    }

    // ------------------------------------------------------------------ running

    /// Runs the loops until the instant, and everything due then.
    public void advanceTo(long untilNanos) {
        if (groups.isEmpty()) {
            ((SimulatedBackend) own.loop.backend()).expectUntil(untilNanos);
            while (untilNanos - kernel.nanoTime() > 0) {
                runOwnUntil(untilNanos);
            }
        }
        settle();
        while (untilNanos - kernel.nanoTime() > 0) {
            // Past this instant, so that the world cannot spin.
            kernel.moveTo(Math.max(nextInstant(untilNanos), kernel.nanoTime() + 1));
            settle();
        }
    }

    /// Runs the loops until no event is scheduled.
    public void run() {
        settle();
        while (kernel.hasEvents()) {
            if (groups.isEmpty()) {
                runOwnUntil(kernel.nextNanos());
                settle();
            } else {
                advanceTo(kernel.nextNanos());
            }
        }
    }

    private void runOwnUntil(long nanos) {
        long left = nanos - kernel.nanoTime();
        if (!own.isTerminated()) {
            own.loop.runFor(Duration.ofNanos(Math.max(0, left)));
        } else {
            boolean early = kernel.hasEvents() && kernel.nextNanos() - nanos < 0;
            kernel.moveTo(early ? kernel.nextNanos() : nanos);
            kernel.runDue();
        }
    }

    private long nextInstant(long untilNanos) {
        long next = kernel.workers().earliestDeadline(untilNanos);
        if (kernel.hasEvents() && kernel.nextNanos() - next < 0) {
            next = kernel.nextNanos();
        }
        for (Member member : members) {
            if (member.isRunnable()) {
                next = member.loop.timers.nearest(next);
            }
        }
        return next;
    }

    /// Runs everything due at this instant, including events that follow at once.
    private void settle() {
        int quiet = 0;
        for (int runs = 0; quiet < IDLE_RUNS; runs++) {
            if (runs == MAX_RUNS) {
                throw new SimulationError(
                        "the world does not become idle: events at one instant cause ever more"
                                + " events. Check for a task that submits itself\n"
                                + kernel.context());
            }
            quiet = (groups.isEmpty() ? runOwn() : runRound()) ? 0 : quiet + 1;
        }
    }

    private boolean runOwn() {
        boolean happened =
                own.isTerminated() ? kernel.runDue() : own.loop.runFor(Duration.ZERO) > 0;
        return happened || own.loop.metrics().queuedTasks() > 0;
    }

    /// Runs one tick of every loop.
    ///
    /// @return whether anything happened
    private boolean runRound() {
        long before = kernel.progress();
        boolean happened = kernel.runDue();
        for (Member member : shuffledMembers()) {
            // An earlier one of this round may have closed it.
            if (member.isRunnable()) {
                happened |= runTick(member);
            }
        }
        retireTerminated();
        rethrowFailure();
        return happened || kernel.progress() != before;
    }

    private List<Member> shuffledMembers() {
        List<Member> order = new ArrayList<>(members);
        synchronized (kernel) {
            kernel.random.shuffle(order);
        }
        return order;
    }

    private boolean runTick(Member member) {
        try {
            boolean ran = member.loop.runFor(Duration.ZERO) > 0;
            if (ran) {
                synchronized (kernel) {
                    kernel.note("loop " + member.loop.config().name());
                }
            }
            return ran || member.loop.metrics().queuedTasks() > 0;
        } catch (VirtualMachineError e) {
            failed(member, e);
            return true;
        }
    }

    private void failed(Member member, VirtualMachineError cause) {
        GroupHost host = member.host;
        if (host == null || host.group == null) {
            throw cause;
        }
        checked.remove(member.loop); // A callback that such an error ends releases nothing.
        member.replaced = host.group.loopFailed(member.loop.groupIndex, cause);
    }

    /// Forgets the loops that have terminated, unless a worker is still running their end.
    private void retireTerminated() {
        for (Member member : List.copyOf(members)) {
            GroupHost host = member.host;
            if (host == null || host.group == null || member.draining || !member.isTerminated()) {
                continue;
            }
            members.remove(member);
            if (!member.replaced) {
                boolean _ = host.group.loopStopped(member.loop);
                host.group.exited();
            }
        }
    }

    private void rethrowFailure() {
        Throwable thrown = failure;
        failure = null;
        switch (thrown) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("a loop failed while it drained", thrown);
        }
    }

    // ------------------------------------------------------------------ the end

    /// Closes all loops.
    public void close() {
        groups.forEach(Group::close);
        own.loop.close();
    }

    /// Returns where buffers were acquired that the loops did not release.
    public List<Throwable> leaks() {
        List<Throwable> leaks = new ArrayList<>();
        checked.forEach(loop -> leaks.addAll(loop.operations().leaks().drainReported()));
        return leaks;
    }

    /// Hosts the loops of one group.
    private final class GroupHost implements LoopHost {
        /// Null before the start.
        private @Nullable Group group;

        @Override
        public Loop open(int index, LoopConfig config) {
            Loop loop = LoopScheduler.this.open(config);
            if (group != null) { // It replaces a loop that failed.
                members.add(new Member(loop, this));
            }
            return loop;
        }

        @Override
        public void start(Group group, int index) {
            this.group = group;
            members.add(new Member(group.loop(index), this));
        }

        @Override
        public void shutdown(Loop loop, long endNanos) {
            for (Member member : members) {
                if (member.loop == loop && member.isRunnable()) {
                    member.draining = true;
                    kernel.workers().execute(() -> drain(member, endNanos));
                    return;
                }
            }
            LoopHost.shutdownNow(loop, endNanos);
        }

        private void drain(Member member, long endNanos) {
            try {
                LoopHost.super.shutdown(member.loop, endNanos);
                if (!member.isTerminated()) { // close() may have terminated it.
                    member.loop.run();
                }
            } catch (VirtualMachineError e) {
                failed(member, e);
            } catch (Throwable e) {
                failure = e;
            } finally {
                member.draining = false;
                retireTerminated();
            }
        }

        @Override
        public void runClosing(Group group) {
            BooleanSupplier closed =
                    () -> {
                        retireTerminated();
                        return group.isTerminated();
                    };
            if (!kernel.workers().isWorker()) {
                kernel.runUntil(closed);
                return;
            }
            try {
                kernel.workers().await(closed);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void requireWaiting(String method, CompletableFuture<?> ended) {
            if (!ended.isDone()) {
                throw new IllegalStateException(
                        "LoopGroup."
                                + method
                                + " would wait forever, because the test runs the loops: call"
                                + " start(), then advance() or run() of the simulated world");
            }
        }

        @Override
        public boolean isThreaded() {
            return false;
        }
    }
}
