package dev.gyre.metrics;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.LoopState;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.base.StackFrames;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Reports callbacks that block their loop, while they still run.
///
/// ```java
/// try (var group = LoopGroup.ofCores(); var _ = Watchdog.on(group, Duration.ofSeconds(1))) {
///     …
///     group.run();
/// }
/// ```
///
/// A thread of its own checks four times per limit what each loop runs. A callback that runs for
/// longer than the limit is logged as a warning, with its connection and stack, and again when it
/// has ended. A loop that waits for the kernel is not blocked, and a callback in a native call is.
/// The loops do no additional work.
///
/// The watchdog of a group includes loops that replace failed ones. It ends when it is closed, or
/// when its loop or group has terminated.
///
/// **Threads.** Any. Listeners are called on the watchdog's thread.
public final class Watchdog implements AutoCloseable {
    private static final int MAX_RECENT = 100;

    /// A pause of the whole JVM looks like one long interval between two samples.
    private static final int MIN_SAMPLES = 3;

    private final Supplier<? extends List<EventLoop>> loops;
    private final BooleanSupplier terminated;
    private final Duration limit;
    private final InstantSource clock;
    private final List<Consumer<? super Stall>> listeners = new CopyOnWriteArrayList<>();

    // Shared: written before publication. Null in tests.
    private @Nullable Thread thread;

    // The watchdog's thread only.
    private IdentityHashMap<EventLoop, Observed> observed = new IdentityHashMap<>();

    // Shared: guarded by itself.
    private final ArrayDeque<Stall> recent = new ArrayDeque<>();

    // Shared: written by any thread.
    private volatile boolean closed;

    /// What the samples of one loop have in common.
    private static final class Observed {
        /// Changes whenever the loop begins or ends a callback.
        long progress;

        long sinceNanos;

        /// How many samples in a row found a callback with the same progress.
        int samples;

        /// The reported stall; null if none.
        @Nullable Stall stall;
    }

    /// Creates a watchdog that only [#check] drives.
    Watchdog(
            Supplier<? extends List<EventLoop>> loops,
            BooleanSupplier terminated,
            Duration limit,
            InstantSource clock) {
        this.limit = Checks.range("limit", limit, Duration.ofMillis(1), Duration.ofDays(1));
        this.loops = loops;
        this.terminated = terminated;
        this.clock = clock;
    }

    /// Watches all loops of a group.
    ///
    /// @param limit how long a callback may run, from 1 ms to 1 day
    /// @throws IllegalArgumentException if the limit is out of range
    public static Watchdog on(LoopGroup group, Duration limit) {
        Objects.requireNonNull(group, "group");
        return new Watchdog(group::loops, group::isTerminated, limit, InstantSource.system())
                .start();
    }

    /// Watches one loop.
    ///
    /// @param limit how long a callback may run, from 1 ms to 1 day
    /// @throws IllegalArgumentException if the limit is out of range
    public static Watchdog on(EventLoop loop, Duration limit) {
        List<EventLoop> one = List.of(Objects.requireNonNull(loop, "loop"));
        BooleanSupplier terminated = () -> loop.state() == LoopState.TERMINATED;
        return new Watchdog(() -> one, terminated, limit, InstantSource.system()).start();
    }

    /// Adds a listener. It is called when a stall is detected, and again when it has ended.
    ///
    /// @return this
    public Watchdog onStall(Consumer<? super Stall> listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /// Returns the last 100 stalls, the oldest first. Each occurs once.
    public List<Stall> recent() {
        synchronized (recent) {
            return List.copyOf(recent);
        }
    }

    /// Returns the limit beyond which a callback is reported. Any thread.
    public Duration limit() {
        return limit;
    }

    /// Ends the watchdog. Idempotent; does not wait.
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    private Watchdog start() {
        // A platform thread: virtual threads have none to run on if all carriers are blocked.
        Thread started =
                Thread.ofPlatform().name("gyre-watchdog").daemon(true).unstarted(this::run);
        thread = started;
        started.start();
        return this;
    }

    private void run() {
        long interval = Math.max(1_000_000, limit.toNanos() / 4);
        while (!closed && !terminated.getAsBoolean()) {
            try {
                check(System.nanoTime());
            } catch (Throwable e) { // Also a broken describe(): the watchdog must survive it.
                Log.LOG.log(Level.ERROR, "the watchdog failed and continues", e);
            }
            LockSupport.parkNanos(this, interval);
        }
        if (!closed) {
            check(System.nanoTime()); // Reports the end of stalls.
        }
    }

    /// Takes a sample of each loop.
    void check(long nowNanos) {
        IdentityHashMap<EventLoop, Observed> next = new IdentityHashMap<>();
        for (EventLoop loop : loops.get()) {
            Observed known = observed.remove(loop);
            Observed current = known == null ? new Observed() : known;
            next.put(loop, current);
            sample(loop, current, nowNanos);
        }
        observed.forEach((_, replaced) -> end(replaced, nowNanos));
        observed = next;
    }

    private void sample(EventLoop loop, Observed seen, long nowNanos) {
        long progress = progressOf(loop);
        LoopState state = loop.state();
        boolean awake = state == LoopState.RUNNING || state == LoopState.TERMINATING;
        if (!awake || progress != seen.progress || seen.samples == 0) {
            end(seen, nowNanos);
            seen.progress = progress;
            seen.sinceNanos = nowNanos;
            seen.samples = awake ? 1 : 0;
            return;
        }
        seen.samples++;
        long elapsed = nowNanos - seen.sinceNanos;
        if (seen.stall == null && seen.samples >= MIN_SAMPLES && elapsed >= limit.toNanos()) {
            begin(loop, seen, Duration.ofNanos(elapsed));
        }
    }

    private static long progressOf(EventLoop loop) {
        LoopMetrics metrics = loop.metrics();
        return metrics.ticks() + metrics.callbacks() + metrics.microtasks();
    }

    /// Only now stops the loop's thread for its stack.
    private void begin(EventLoop loop, Observed seen, Duration elapsed) {
        Thread blocked = loop.thread();
        RunningCallback running = loop.metrics().running().orElse(null);
        if (blocked == null || running == null) {
            seen.samples = 0; // A loop that drains, and waits for the kernel.
            return;
        }
        List<StackTraceElement> stack = List.of(blocked.getStackTrace());
        if (progressOf(loop) != seen.progress) {
            return; // It has just ended: the stack is of another callback.
        }
        Stall stall =
                new Stall(
                        loop.config().name(),
                        clock.instant().minus(elapsed),
                        elapsed,
                        limit,
                        false,
                        running.kind(),
                        running.description().isEmpty()
                                ? firstUserFrame(stack)
                                : running.description(),
                        stack);
        seen.stall = stall;
        synchronized (recent) {
            if (recent.size() == MAX_RECENT) {
                recent.removeFirst();
            }
            recent.addLast(stall);
        }
        Log.LOG.log(Level.WARNING, describe(stall));
        notifyListeners(stall);
    }

    /// Reports the end of the stall, if there is one.
    @SuppressWarnings("ReferenceEquality") // two equal stalls are still two
    private void end(Observed seen, long nowNanos) {
        Stall stall = seen.stall;
        if (stall == null) {
            return;
        }
        seen.stall = null;
        Duration elapsed = Duration.ofNanos(nowNanos - seen.sinceNanos);
        Stall ended =
                new Stall(
                        stall.loop(),
                        stall.began(),
                        elapsed,
                        limit,
                        true,
                        stall.kind(),
                        stall.description(),
                        stall.stack());
        synchronized (recent) {
            List<Stall> all = new ArrayList<>(recent);
            recent.clear();
            all.replaceAll(each -> each == stall ? ended : each);
            recent.addAll(all);
        }
        Log.LOG.log(Level.WARNING, "loop " + stall.loop() + " ran again after " + millis(elapsed));
        notifyListeners(ended);
    }

    private void notifyListeners(Stall stall) {
        JfrEvents.stall(stall);
        for (Consumer<? super Stall> listener : listeners) {
            try {
                listener.accept(stall);
            } catch (Throwable e) {
                Log.LOG.log(Level.ERROR, "a listener of the watchdog threw", e);
            }
        }
    }

    private static String firstUserFrame(List<StackTraceElement> stack) {
        return StackFrames.firstUserFrame(stack)
                .map(StackTraceElement::toString)
                .orElse("Gyre itself");
    }

    private static String describe(Stall stall) {
        StringBuilder text = new StringBuilder("loop ");
        text.append(stall.loop()).append(" blocked for ").append(millis(stall.elapsed()));
        text.append(" (limit ").append(millis(stall.limit())).append(')');
        String frame = firstUserFrame(stall.stack());
        text.append(" in ").append(frame).append(", ").append(stall.kind());
        if (!stall.description().isEmpty() && !stall.description().equals(frame)) {
            text.append(", ").append(stall.description());
        }
        stall.stack().forEach(each -> text.append("\n\tat ").append(each));
        return text.toString();
    }

    /// Formats a duration with spaces between thousands: `2 113 ms`.
    private static String millis(Duration duration) {
        return String.format(Locale.ROOT, "%,d ms", duration.toMillis()).replace(',', ' ');
    }
}
