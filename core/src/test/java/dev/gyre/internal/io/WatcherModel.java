package dev.gyre.internal.io;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.io.WatcherPrograms.Action;
import dev.gyre.internal.io.WatcherPrograms.Spec;

import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A model of watchers by the clauses W-1 to W-9, over a minimal kernel. Predicts the callbacks and
/// their order.
final class WatcherModel {
    private static final int UNASKED = Readiness.ERROR | Readiness.HANGUP;

    private static final class Watcher {
        final int id;
        Spec spec;
        boolean alive = true;

        /// The state visible to the user.
        boolean armed;

        /// The state of the kernel.
        boolean reports;

        boolean onChange;
        boolean once;
        boolean changed;

        /// Whether the kernel reports edges, although the user watches levels.
        boolean quiet;

        boolean rearmed;

        Watcher(int id, Spec spec) {
            this.id = id;
            this.spec = spec;
        }

        void arm(Spec wanted) {
            spec = wanted;
            armed = !wanted.isNothing();
            quiet = false;
            tellKernel(armed, wanted.edge(), wanted.oneShot());
        }

        void tellKernel(boolean reports, boolean onChange, boolean once) {
            this.reports = reports;
            this.onChange = onChange;
            this.once = once;
            changed = true;
        }

        int reportable(int condition) {
            if (!reports || spec.isNothing() || (onChange && !changed)) {
                return 0;
            }
            int asked =
                    (spec.reader() ? Readiness.READ : 0) | (spec.writer() ? Readiness.WRITE : 0);
            return condition & (asked | UNASKED);
        }
    }

    private record Event(Watcher watcher, int ready) {}

    final List<String> log = new ArrayList<>();
    private final Map<Integer, Watcher> watching = new TreeMap<>();
    private final Map<Integer, Watcher> latest = new HashMap<>();
    private final Map<Integer, Boolean> closed = new HashMap<>();
    private final Map<Integer, Integer> conditions = new HashMap<>();
    private final Deque<Action> reactions;
    private int watchers;

    WatcherModel(Deque<Action> reactions) {
        this.reactions = reactions;
    }

    void perform(Action action) {
        int fd = action.fd();
        Watcher last = latest.get(fd);
        switch (action.kind()) {
            case WATCH -> watch(fd, action.spec());
            case MODIFY -> modify(last, action.spec());
            case REARM -> modify(last, last == null ? action.spec() : last.spec);
            case UNWATCH -> forget(fd);
            case CLOSE -> {
                forget(fd);
                closed.put(fd, true);
                conditions.put(fd, 0);
            }
            case REOPEN -> {
                forget(fd);
                closed.put(fd, false);
                conditions.put(fd, 0);
            }
            case CONDITION -> {
                conditions.put(fd, action.ready());
                Watcher watcher = watching.get(fd);
                if (watcher != null) {
                    watcher.changed = true;
                }
            }
            case POLL -> {}
        }
    }

    private void watch(int fd, Spec spec) {
        if (closed.getOrDefault(fd, false)) {
            log.add("closed " + fd);
            return;
        }
        forget(fd); // W-1: replaces the old one without a callback.
        Watcher watcher = new Watcher(++watchers, spec);
        watcher.arm(spec);
        watching.put(fd, watcher);
        latest.put(fd, watcher);
    }

    private void modify(Watcher watcher, Spec spec) {
        if (watcher == null) {
            return;
        }
        if (!watcher.alive) {
            log.add("over " + watcher.id);
            return;
        }
        watcher.rearmed = true;
        watcher.arm(spec);
    }

    /// W-4: idempotent.
    private void forget(int fd) {
        Watcher watcher = watching.remove(fd);
        if (watcher != null) {
            watcher.alive = false;
        }
    }

    void poll() {
        List<Event> events = new ArrayList<>();
        watching.forEach(
                (fd, watcher) -> {
                    int ready = watcher.reportable(conditions.getOrDefault(fd, 0));
                    if (ready != 0) {
                        watcher.changed = false;
                        watcher.reports = !watcher.once;
                        events.add(new Event(watcher, ready));
                    }
                });
        events.forEach(event -> dispatch(event.watcher(), event.ready()));
    }

    private void dispatch(Watcher watcher, int ready) {
        if (!watcher.alive || !watcher.armed) {
            return; // W-3, and W-7: one dispatch for one arming.
        }
        boolean error = (ready & Readiness.ERROR) != 0;
        boolean onlyError = error && watcher.spec.error(); // W-6
        boolean read =
                watcher.spec.reader()
                        && (error || (ready & (Readiness.READ | Readiness.HANGUP)) != 0);
        boolean write = watcher.spec.writer() && (error || (ready & Readiness.WRITE) != 0);
        if (!onlyError && !read && !write) {
            passOver(watcher);
            return;
        }
        if (watcher.quiet) {
            watcher.quiet = false;
            watcher.tellKernel(true, watcher.spec.edge(), false);
        }
        watcher.rearmed = false;
        if (onlyError) {
            run(watcher, "error");
        } else { // W-5
            if (read) {
                run(watcher, "read");
            }
            if (write && watcher.alive && watcher.spec.writer()) {
                run(watcher, "write");
            }
        }
        if (watcher.spec.oneShot() && !watcher.rearmed) {
            watcher.armed = false;
        }
    }

    private static void passOver(Watcher watcher) {
        if (watcher.spec.oneShot()) {
            if (watcher.rearmed) {
                watcher.rearmed = false;
                watcher.tellKernel(true, watcher.spec.edge(), true);
            } else {
                watcher.armed = false;
            }
        } else if (!watcher.quiet && !watcher.spec.edge()) {
            watcher.quiet = true;
            watcher.tellKernel(true, true, false); // W-9: otherwise the loop would spin.
        }
    }

    private void run(Watcher watcher, String callback) {
        log.add(watcher.id + " " + callback);
        Action reaction = reactions.poll();
        if (reaction != null) {
            perform(reaction);
        }
    }

    String stateOf(int fd) {
        Watcher watcher = latest.get(fd);
        return watcher == null
                ? "never watched"
                : watcher.alive + " " + (watcher.alive && watcher.armed);
    }
}
