package dev.gyre.testkit.internal;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.ReadinessOperations;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/// A backend over a simulated kernel. It never waits: if nothing is ready, the clock advances to
/// the next scheduled event, or to the deadline.
///
/// It detects two mistakes, and reports each by an error with the trace. A wait without a scheduled
/// event and without a deadline would never end. A loop that polls repeatedly while nothing happens
/// spins.
public final class SimulatedBackend implements Backend {
    /// This many of the longest waits in a row, without a scheduled event, never end.
    private static final int MAX_EMPTY_WAITS = 400;

    /// This many polls in a row without progress are a spin.
    private static final int MAX_IDLE_POLLS = 100_000;

    /// A loop that is busy for more polls than this at one instant lets a little time pass with
    /// each. A program that never idles would otherwise stop the rest of the world.
    private static final int POLLS_AT_ONE_INSTANT = 64;

    private static final long BUSY_POLL_NANOS = 10_000;

    private final SimulatedKernel kernel;
    private final int eventsPerWait;
    private final long maxWaitNanos;
    private final PollSet polls;
    private final Registrations registrations = new PollSetRegistrations();

    // Shared: guarded by the kernel's lock. A bound of the registered descriptors.
    private int fdBound = 64;

    // Shared: written under the kernel's lock, read by any thread.
    private volatile boolean closed;

    // Shared: set by any thread, cleared by the loop.
    private final AtomicBoolean pendingWake = new AtomicBoolean();
    private final AtomicLong wakeups = new AtomicLong();

    // Loop thread only.
    private final Deque<PollSet.Event> collected = new ArrayDeque<>();
    private int emptyWaits;
    private long lastProgress;
    private int idlePolls;
    private long lastInstant;
    private int pollsAtInstant;
    private long expectedUntilNanos = Long.MIN_VALUE;

    /// @param maxWaitNanos how long a loop without a deadline waits
    public SimulatedBackend(SimulatedKernel kernel, int eventsPerWait, long maxWaitNanos) {
        this.kernel = kernel;
        this.eventsPerWait = eventsPerWait;
        this.maxWaitNanos = maxWaitNanos;
        synchronized (kernel) {
            polls = new PollSet(kernel);
        }
    }

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public OperationEngine openOperations(LoopContext context) {
        return new ReadinessOperations(this, kernel.syscalls(), context);
    }

    @Override
    public SyscallFactories syscalls() {
        return kernel.syscalls();
    }

    @Override
    public Supplier<? extends SignalCalls> signals() {
        DescriptorCalls calls = new DescriptorCalls(kernel);
        return () -> calls;
    }

    // ------------------------------------------------------------------ waiting

    @Override
    public long nanoTime() {
        return kernel.nanoTime();
    }

    /// Announces that time is to pass until an instant, so that an empty wait is no mistake.
    public void expectUntil(long nanos) {
        expectedUntilNanos = nanos;
    }

    @Override
    public void pollNow() {
        assert collected.isEmpty() : "events not dispatched yet: " + collected.size();
        if (kernel.workers().isWorker()) {
            kernel.workers().yieldTurn();
        } else {
            kernel.runDue();
        }
        pendingWake.set(false);
        collect();
        checkProgress();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert collected.isEmpty() : "events not dispatched yet: " + collected.size();
        if (kernel.workers().isWorker()) {
            awaitTurn(deadlineNanos);
            checkProgress();
            return;
        }
        while (true) {
            kernel.runDue();
            // Work outside the loop may have changed what the loop waits for, without a wake-up.
            boolean worked = kernel.pollRanOutside();
            boolean woken = pendingWake.getAndSet(false);
            if (collect() || woken || worked || deadlineNanos - nanoTime() <= 0) {
                break;
            }
            advanceClock(deadlineNanos);
        }
        checkProgress();
    }

    /// Waits on a worker thread, which drains a loop of a group.
    private void awaitTurn(long deadlineNanos) {
        boolean closing = false;
        while (!pendingWake.getAndSet(false)
                && !collect()
                && deadlineNanos - nanoTime() > 0
                && !closing) {
            try {
                Duration left = Duration.ofNanos(deadlineNanos - nanoTime());
                boolean _ = kernel.workers().await(this::isReady, left);
            } catch (InterruptedException e) {
                closing = true; // The tick checks whether the drain must end.
            }
        }
    }

    private boolean isReady() {
        synchronized (kernel) {
            return pendingWake.get() || polls.ready() != 0;
        }
    }

    private void advanceClock(long loopDeadlineNanos) {
        long deadlineNanos = kernel.workers().earliestDeadline(loopDeadlineNanos);
        synchronized (kernel) {
            if (kernel.hasEvents() && kernel.nextNanos() - deadlineNanos < 0) {
                emptyWaits = 0;
                kernel.moveTo(kernel.nextNanos());
                return;
            }
            boolean empty =
                    !kernel.hasEvents()
                            && deadlineNanos - nanoTime() >= maxWaitNanos
                            && expectedUntilNanos - nanoTime() < maxWaitNanos;
            emptyWaits = empty ? emptyWaits + 1 : 0;
            if (emptyWaits > MAX_EMPTY_WAITS) {
                emptyWaits = 0;
                throw kernel.failure(
                        "the loop waits forever: no timer is set and the simulated world has no"
                            + " scheduled event. Other threads cannot wake it. Stop the loop, or"
                            + " run it with advance() or run() of the world");
            }
            kernel.moveTo(deadlineNanos);
        }
    }

    private boolean collect() {
        synchronized (kernel) {
            if (closed) {
                return false;
            }
            collected.addAll(polls.collect(eventsPerWait));
            if (collected.size() < eventsPerWait && kernel.injector.inventsEvent()) {
                PollSet.Event invented = inventEvent();
                if (invented != null) {
                    collected.add(invented);
                }
            }
            for (PollSet.Event event : collected) {
                kernel.note(
                        "event " + (int) event.data() + " " + Integer.toHexString(event.ready()));
            }
            return !collected.isEmpty();
        }
    }

    private PollSet.@Nullable Event inventEvent() {
        int from = kernel.random.below(fdBound);
        for (int i = 0; i < fdBound; i++) {
            PollSet.Event event = polls.falseEvent((from + i) % fdBound);
            if (event != null) {
                return event;
            }
        }
        return null;
    }

    private void checkProgress() {
        long now = nanoTime();
        pollsAtInstant = now == lastInstant ? pollsAtInstant + 1 : 0;
        lastInstant = now;
        if (pollsAtInstant >= POLLS_AT_ONE_INSTANT) {
            kernel.advanceBusy(BUSY_POLL_NANOS);
            lastInstant = nanoTime();
        }
        long progress = kernel.progress();
        idlePolls = progress == lastProgress ? idlePolls + 1 : 0;
        lastProgress = progress;
        if (idlePolls > MAX_IDLE_POLLS) {
            idlePolls = 0;
            throw kernel.failure(
                    "the loop spins: it has polled "
                            + MAX_IDLE_POLLS
                            + " times without progress. Check for a watched descriptor that stays"
                            + " ready, and for a task that submits itself");
        }
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        for (PollSet.Event event = collected.poll(); event != null; event = collected.poll()) {
            ReadinessHandler handler = closed ? null : registrations.find(event.data());
            if (handler != null) {
                handler.onReady(event.ready());
                return handler;
            }
        }
        return null;
    }

    @Override
    public void wake() {
        if (!closed && !pendingWake.getAndSet(true)) {
            wakeups.incrementAndGet();
        }
    }

    @Override
    public long wakeups() {
        return wakeups.get();
    }

    // ------------------------------------------------------------------ registrations

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        registrations.register(fd, interest, handler);
    }

    @Override
    public void modify(int fd, int interest) {
        registrations.modify(fd, interest);
    }

    @Override
    public void deregister(int fd, ReadinessHandler handler) {
        registrations.deregister(fd, handler);
    }

    private final class PollSetRegistrations extends Registrations {
        @Override
        protected String call(boolean registering) {
            return registering ? "epoll_ctl(ADD)" : "epoll_ctl(MOD)";
        }

        @Override
        protected int arm(boolean registering, int fd, long data, int interest) {
            synchronized (kernel) {
                if (fd >= fdBound) {
                    fdBound = Math.max(fd + 1, fdBound * 2);
                }
                int result = control(registering, fd, data, interest);
                kernel.note(
                        (registering ? "register " : "modify ")
                                + fd
                                + " "
                                + Integer.toHexString(interest)
                                + " = "
                                + result);
                return result;
            }
        }

        private int control(boolean registering, int fd, long data, int interest) {
            if (Readiness.isEmpty(interest)) {
                int _ = polls.control(Linux.EPOLL_CTL_DEL, fd, 0, 0);
                return registering ? probe(fd) : 0;
            }
            int likely = registering ? Linux.EPOLL_CTL_ADD : Linux.EPOLL_CTL_MOD;
            int result = polls.control(likely, fd, interest, data);
            return switch (-result) {
                case Errno.EEXIST -> polls.control(Linux.EPOLL_CTL_MOD, fd, interest, data);
                case Errno.ENOENT -> polls.control(Linux.EPOLL_CTL_ADD, fd, interest, data);
                default -> result;
            };
        }

        private int probe(int fd) {
            int result = polls.control(Linux.EPOLL_CTL_ADD, fd, 0, 0);
            return result < 0 ? result : polls.control(Linux.EPOLL_CTL_DEL, fd, 0, 0);
        }

        @Override
        protected void disarm(int fd) {
            synchronized (kernel) {
                int _ = polls.control(Linux.EPOLL_CTL_DEL, fd, 0, 0);
                kernel.note("deregister " + fd);
            }
        }
    }

    @Override
    public void close() {
        registrations.close();
        synchronized (kernel) {
            if (!closed) {
                closed = true;
                polls.closed();
            }
        }
    }
}
