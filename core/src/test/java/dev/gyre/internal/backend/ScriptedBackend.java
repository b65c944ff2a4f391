package dev.gyre.internal.backend;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A kernel for tests. Time advances only when the loop waits or the test moves it, and the test
/// makes descriptors ready. A wait for nothing fails the test instead of hanging it.
public final class ScriptedBackend implements Backend {
    /// One poll of the loop.
    ///
    /// @param blocking whether it was allowed to wait
    public record Poll(boolean blocking, long deadlineNanos) {}

    private record Pulse(int fd, int ready) {}

    private record Event(int fd, int ready, Registration registration) {}

    /// A registration as the kernel knows it. Events of one registration do not reach another one of
    /// the same number.
    private static final class Registration {
        final ReadinessHandler handler;
        int interest;
        boolean changed = true;
        boolean disarmed;

        Registration(int interest, ReadinessHandler handler) {
            this.interest = interest;
            this.handler = handler;
        }

        /// Returns the events to report: errors and hang-ups without interest, unless it is empty.
        int reportable(int condition) {
            int asked = interest & (Readiness.READ | Readiness.WRITE);
            if (asked == 0 || disarmed || ((interest & Readiness.EDGE) != 0 && !changed)) {
                return 0;
            }
            int reported = condition & (Readiness.ERROR | Readiness.HANGUP);
            if ((asked & Readiness.READ) != 0) {
                reported |= condition & Readiness.READ;
            }
            if ((asked & Readiness.WRITE) != 0) {
                reported |= condition & Readiness.WRITE;
            }
            return reported;
        }

        void reported() {
            changed = false;
            disarmed = (interest & Readiness.ONE_SHOT) != 0;
        }
    }

    private final Map<Integer, Registration> registrations = new TreeMap<>();
    private final Map<Integer, Integer> conditions = new HashMap<>();
    private final Deque<Pulse> upcoming = new ArrayDeque<>();
    private final Deque<Event> collected = new ArrayDeque<>();
    private final Deque<Runnable> duringWaits = new ArrayDeque<>();
    private final List<Poll> polls = new ArrayList<>();
    private long nowNanos;
    private long wakeups;
    private boolean woken;
    private int closes;
    private int lastCollected;

    public ScriptedBackend() {
        this(1_000);
    }

    public ScriptedBackend(long startNanos) {
        nowNanos = startNanos;
    }

    /// Moves the clock.
    public void advance(long nanos) {
        nowNanos += nanos;
    }

    /// Makes a descriptor ready for the next poll only, whatever the interest is.
    public void makeReady(int fd, int ready) {
        upcoming.add(new Pulse(fd, ready));
    }

    /// Makes a descriptor ready until this is called again, and reports it as epoll does: by its
    /// interest, level-triggered or once per call, until disarmed.
    public void setCondition(int fd, int ready) {
        conditions.put(fd, ready);
        Registration registration = registrations.get(fd);
        if (registration != null) {
            registration.changed = true;
        }
    }

    /// Returns how many events the last poll has collected.
    public int lastCollected() {
        return lastCollected;
    }

    /// Schedules an action for the next blocking wait without one, as if another thread ran it.
    public void duringWait(Runnable happening) {
        duringWaits.add(happening);
    }

    public List<Poll> polls() {
        return polls;
    }

    public int closes() {
        return closes;
    }

    @Override
    public String name() {
        return "scripted";
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public void pollNow() {
        polls.add(new Poll(false, nowNanos));
        collect();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        polls.add(new Poll(true, deadlineNanos));
        Runnable happening = duringWaits.poll();
        if (happening != null) {
            happening.run();
        } else if (upcoming.isEmpty() && !woken && !isAnyReady()) {
            nowNanos = Math.max(nowNanos, deadlineNanos);
            if (polls.size() > 100_000) {
                throw new AssertionError("the loop waits forever; script an event that wakes it");
            }
        }
        collect();
    }

    private boolean isAnyReady() {
        return registrations.entrySet().stream()
                .anyMatch(entry -> entry.getValue().reportable(condition(entry.getKey())) != 0);
    }

    private int condition(int fd) {
        return conditions.getOrDefault(fd, 0);
    }

    private void collect() {
        woken = false;
        for (Pulse pulse : upcoming) {
            Registration registration = registrations.get(pulse.fd());
            if (registration != null) {
                collected.add(new Event(pulse.fd(), pulse.ready(), registration));
            }
        }
        upcoming.clear();
        registrations.forEach(
                (fd, registration) -> {
                    int ready = registration.reportable(condition(fd));
                    if (ready != 0) {
                        registration.reported();
                        collected.add(new Event(fd, ready, registration));
                    }
                });
        lastCollected = collected.size();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // compared by identity
    public @Nullable ReadinessHandler dispatchNext() {
        while (!collected.isEmpty()) {
            Event event = collected.remove();
            if (registrations.get(event.fd()) == event.registration()) {
                ReadinessHandler handler = event.registration().handler;
                handler.onReady(event.ready());
                return handler;
            }
        }
        return null;
    }

    @Override
    public void wake() {
        woken = true;
        wakeups++;
    }

    @Override
    public long wakeups() {
        return wakeups;
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        registrations.put(fd, new Registration(interest, handler));
    }

    @Override
    public void modify(int fd, int interest) {
        Registration registration = registrations.get(fd);
        if (registration != null) {
            registration.interest = interest;
            registration.changed = true;
            registration.disarmed = false;
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // compared by identity
    public void deregister(int fd, ReadinessHandler handler) {
        Registration registration = registrations.get(fd);
        if (registration != null && registration.handler == handler) {
            registrations.remove(fd);
        }
    }

    @Override
    public void close() {
        closes++;
    }
}
