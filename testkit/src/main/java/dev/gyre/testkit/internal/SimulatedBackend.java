package dev.gyre.testkit.internal;

import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.ReadinessOperations;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/// A backend over a simulated kernel. It never waits: when nothing is ready, the clock moves to the next thing that
/// happens, or to the deadline.
///
/// So there are two ways in which a loop may be caught. A wait with nothing to come and no deadline but the longest
/// there is would last for ever; and a loop that polls over and over while nothing moves would spin. Both end in an
/// error that shows the trace.
public final class SimulatedBackend implements Backend {
    private static final int MOST_DESCRIPTORS = 1 << 20;

    /// So many of the longest waits in a row, in an empty world, are for ever.
    private static final int MOST_EMPTY_WAITS = 400;

    /// So many polls in a row without anything moving are a spin.
    private static final int MOST_IDLE_POLLS = 100_000;

    /// A loop that is busy for longer than this many polls has time pass nevertheless, a little with each: a
    /// program that never rests would otherwise keep everybody else from getting their turn.
    private static final int POLLS_AT_ONE_INSTANT = 64;

    private static final long BUSY_POLL_NANOS = 10_000;

    private record Entry(int generation, ReadinessHandler handler) {}

    private final SimulatedKernel kernel;
    private final int eventsPerWait;
    private final long maxWaitNanos;
    private final PollSet polls;

    // Shared: guarded by the kernel's lock.
    private @Nullable Entry[] entries = new @Nullable Entry[64];
    private int generation;

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

    /// A backend.
    ///
    /// @param maxWaitNanos what a loop waits that has no deadline
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
    public OperationEngine openOperations(LoopContext host) {
        return new ReadinessOperations(this, kernel.seam(), host);
    }

    @Override
    public Syscalls syscalls() {
        return kernel.seam();
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

    /// Somebody wants time to pass until then, so that waiting for nothing is no mistake.
    public void expectUntil(long nanos) {
        expectedUntilNanos = nanos;
    }

    @Override
    public void pollNow() {
        assert collected.isEmpty() : "events not taken yet: " + collected.size();
        kernel.runDue();
        pendingWake.set(false);
        collect();
        watchProgress();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert collected.isEmpty() : "events not taken yet: " + collected.size();
        while (true) {
            kernel.runDue();
            // Work beside the loop is done on its very thread here, and so settles promises without
            // waking anybody.
            boolean worked = kernel.takeRanOutside();
            boolean woken = pendingWake.getAndSet(false);
            if (collect() || woken || worked || deadlineNanos - nanoTime() <= 0) {
                break;
            }
            moveOn(deadlineNanos);
        }
        watchProgress();
    }

    private void moveOn(long deadlineNanos) {
        synchronized (kernel) {
            if (kernel.hasAgenda() && kernel.nextNanos() - deadlineNanos < 0) {
                emptyWaits = 0;
                kernel.moveTo(kernel.nextNanos());
                return;
            }
            boolean empty =
                    !kernel.hasAgenda()
                            && deadlineNanos - nanoTime() >= maxWaitNanos
                            && expectedUntilNanos - nanoTime() < maxWaitNanos;
            emptyWaits = empty ? emptyWaits + 1 : 0;
            if (emptyWaits > MOST_EMPTY_WAITS) {
                emptyWaits = 0;
                throw kernel.failure(
                        "the loop waits for ever: no timer is set, nothing is under way in the"
                                + " simulated world, and another thread is not waited for. Stop the"
                                + " loop, or run it with advance() or run() of the world");
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
            if (collected.size() < eventsPerWait && kernel.mischief.inventsEvent()) {
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
        int from = kernel.dice.below(entries.length);
        for (int i = 0; i < entries.length; i++) {
            int fd = (from + i) % entries.length;
            PollSet.Event event = entries[fd] == null ? null : polls.falseEvent(fd);
            if (event != null) {
                return event;
            }
        }
        return null;
    }

    private void watchProgress() {
        long now = nanoTime();
        pollsAtInstant = now == lastInstant ? pollsAtInstant + 1 : 0;
        lastInstant = now;
        if (pollsAtInstant >= POLLS_AT_ONE_INSTANT) {
            kernel.creep(BUSY_POLL_NANOS);
            lastInstant = nanoTime();
        }
        long progress = kernel.progress();
        idlePolls = progress == lastProgress ? idlePolls + 1 : 0;
        lastProgress = progress;
        if (idlePolls > MOST_IDLE_POLLS) {
            idlePolls = 0;
            throw kernel.failure(
                    "the loop spins: it has polled "
                            + MOST_IDLE_POLLS
                            + " times while no byte moved and nothing happened. Is something"
                            + " watched that stays ready, or does a task submit itself?");
        }
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        for (PollSet.Event event = collected.poll(); event != null; event = collected.poll()) {
            ReadinessHandler handler = handlerOf(event.data());
            if (handler != null) {
                handler.onReady(event.ready());
                return handler;
            }
        }
        return null;
    }

    private @Nullable ReadinessHandler handlerOf(long data) {
        synchronized (kernel) {
            Entry entry = closed ? null : entryOf((int) data);
            return entry != null && entry.generation == (int) (data >>> 32) ? entry.handler : null;
        }
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
        if (fd < 0 || fd >= MOST_DESCRIPTORS) {
            throw new IllegalArgumentException("not a descriptor: " + fd);
        }
        synchronized (kernel) {
            requireOpen();
            if (fd >= entries.length) {
                entries = Arrays.copyOf(entries, Math.max(fd + 1, entries.length * 2));
            }
            // Never zero, as elsewhere: that is nobody's.
            generation = generation == -1 ? 1 : generation + 1;
            entries[fd] = new Entry(generation, handler);
            int result = arm(Linux.EPOLL_CTL_ADD, fd, generation, interest);
            if (result == 0 && Readiness.isEmpty(interest)) {
                result = probe(fd);
            }
            kernel.note("register " + fd + " " + Integer.toHexString(interest) + " = " + result);
            if (result < 0) {
                entries[fd] = null;
                throw new SystemCallException("epoll_ctl(ADD)", -result, fd);
            }
        }
    }

    @Override
    public void modify(int fd, int interest) {
        synchronized (kernel) {
            requireOpen();
            Entry entry = entryOf(fd);
            if (entry == null) {
                return;
            }
            int result = arm(Linux.EPOLL_CTL_MOD, fd, entry.generation, interest);
            kernel.note("modify " + fd + " " + Integer.toHexString(interest) + " = " + result);
            if (result < 0) {
                throw new SystemCallException("epoll_ctl(MOD)", -result, fd);
            }
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a handler is only itself
    public void deregister(int fd, ReadinessHandler handler) {
        synchronized (kernel) {
            Entry entry = entryOf(fd);
            if (closed || entry == null || entry.handler != handler) {
                return;
            }
            entries[fd] = null;
            int _ = polls.control(Linux.EPOLL_CTL_DEL, fd, 0, 0);
            kernel.note("deregister " + fd);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new LoopTerminatedException("the loop is over: its descriptors are released");
        }
    }

    private @Nullable Entry entryOf(int fd) {
        return fd >= 0 && fd < entries.length ? entries[fd] : null;
    }

    private int arm(int likely, int fd, int generation, int interest) {
        if (Readiness.isEmpty(interest)) {
            int _ = polls.control(Linux.EPOLL_CTL_DEL, fd, 0, 0);
            return 0;
        }
        long data = (long) generation << 32 | fd;
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
    public void close() {
        synchronized (kernel) {
            if (!closed) {
                closed = true;
                polls.closed();
                Arrays.fill(entries, null);
            }
        }
    }
}
