package dev.gyre;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.TreeSet;

/// The documented order and nothing else: clauses L-5, M-1, M-2, Q-3, Q-7 and P-1 in as few lines
/// as they allow. Slow, and without any of the loop's machinery.
final class OrderModel implements OrderProgram.Machine {
    private record Waiting(long deadline, long sequence, Runnable callback) {}

    /// A promise: whether it is settled, how, and what waits for that.
    private static final class Mirror {
        boolean decided;
        boolean settled;
        boolean rejected;
        final List<Runnable> reactions = new ArrayList<>();
    }

    private final int taskBudget;
    private final int microtaskBudget;
    private final int ioBatch;

    private final Deque<Runnable> microtasks = new ArrayDeque<>();
    private final Deque<Runnable> deferred = new ArrayDeque<>();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final Deque<Runnable> priorityTasks = new ArrayDeque<>();
    private final TreeSet<Waiting> timers =
            new TreeSet<>(
                    Comparator.comparingLong(Waiting::deadline)
                            .thenComparingLong(Waiting::sequence));
    private final TreeSet<Integer> changed = new TreeSet<>();
    private final List<Deque<Runnable>> readers = new ArrayList<>();
    private final List<Mirror> promises = new ArrayList<>();
    private long now;
    private long sequence;
    private int microtasksLeft;

    OrderModel(LoopConfig config) {
        taskBudget = config.taskBudget();
        microtaskBudget = config.microtaskBudget();
        ioBatch = config.strictMicrotasks() ? 1 : config.ioBatch();
        for (int i = 0; i < OrderProgram.DESCRIPTORS; i++) {
            readers.add(new ArrayDeque<>());
        }
        for (int i = 0; i < OrderProgram.DEFERREDS; i++) {
            promises.add(new Mirror());
        }
    }

    // ------------------------------------------------------------------ the turn

    void run() {
        while (isAnythingQueued() || !timers.isEmpty()) {
            if (!isAnythingQueued()) {
                now = Math.max(now, timers.first().deadline());
            }
            turn();
        }
    }

    private boolean isAnythingQueued() {
        return !(microtasks.isEmpty()
                && deferred.isEmpty()
                && tasks.isEmpty()
                && priorityTasks.isEmpty()
                && changed.isEmpty());
    }

    private void turn() {
        microtasksLeft = microtaskBudget;
        List<Waiting> due = timers.stream().filter(timer -> timer.deadline() <= now).toList();
        timers.removeAll(due);
        due.forEach(timer -> call(timer.callback()));
        while (!priorityTasks.isEmpty()) {
            call(priorityTasks.remove());
        }
        for (int left = Math.min(taskBudget, tasks.size()); left > 0; left--) {
            call(tasks.remove());
        }
        for (int left = deferred.size(); left > 0; left--) {
            call(deferred.remove());
        }
        barrier();
        List<Integer> ready = List.copyOf(changed);
        changed.clear();
        for (int i = 0; i < ready.size(); i++) {
            Deque<Runnable> readersOfIt = readers.get(ready.get(i));
            for (int left = readersOfIt.size(); left > 0; left--) {
                readersOfIt.remove().run();
            }
            if ((i + 1) % ioBatch == 0) {
                barrier();
            }
        }
        barrier();
    }

    private void call(Runnable callback) {
        callback.run();
        barrier();
    }

    private void barrier() {
        while (!microtasks.isEmpty() && microtasksLeft > 0) {
            microtasksLeft--;
            microtasks.remove().run();
        }
    }

    // ------------------------------------------------------------------ what callbacks do

    @Override
    public void microtask(Runnable callback) {
        microtasks.add(callback);
    }

    @Override
    public void defer(Runnable callback) {
        deferred.add(callback);
    }

    @Override
    public void submit(Runnable callback) {
        tasks.add(callback);
    }

    @Override
    public void submitPriority(Runnable callback) {
        priorityTasks.add(callback);
    }

    @Override
    public void after(long nanos, Runnable callback) {
        timers.add(new Waiting(now + nanos, sequence++, callback));
    }

    @Override
    public void ready(int descriptor, Runnable callback) {
        readers.get(descriptor).add(callback);
        changed.add(descriptor);
    }

    @Override
    public boolean resolve(int index) {
        return decide(promises.get(index), false);
    }

    @Override
    public boolean reject(int index) {
        return decide(promises.get(index), true);
    }

    private boolean decide(Mirror promise, boolean rejected) {
        boolean first = !promise.decided;
        if (first) {
            settle(promise, rejected);
        }
        return first;
    }

    @Override
    public boolean follow(int index, int promise) {
        Mirror follower = promises.get(index);
        if (follower.decided) {
            return false;
        }
        follow(follower, promises.get(promise));
        return true;
    }

    @Override
    public int promises() {
        return promises.size();
    }

    @Override
    public void then(int promise, Runnable callback) {
        step(
                promises.get(promise),
                (source, step) -> {
                    if (!source.rejected) {
                        callback.run();
                    }
                    settle(step, source.rejected);
                });
    }

    @Override
    public void finallyRun(int promise, Runnable callback) {
        step(
                promises.get(promise),
                (source, step) -> {
                    callback.run();
                    settle(step, source.rejected);
                });
    }

    @Override
    public void thenCompose(int promise, Runnable callback, int followed) {
        Mirror other = promises.get(followed);
        step(
                promises.get(promise),
                (source, step) -> {
                    if (source.rejected) {
                        settle(step, true);
                    } else {
                        callback.run();
                        follow(step, other);
                    }
                });
    }

    private interface Handler {
        void handle(Mirror source, Mirror step);
    }

    private void step(Mirror source, Handler handler) {
        Mirror step = new Mirror();
        promises.add(step);
        react(source, () -> handler.handle(source, step));
    }

    private void follow(Mirror follower, Mirror other) {
        follower.decided = true;
        if (other.settled) {
            settle(follower, other.rejected);
        } else {
            react(other, () -> settle(follower, other.rejected));
        }
    }

    private void react(Mirror promise, Runnable reaction) {
        if (promise.settled) {
            microtasks.add(reaction);
        } else {
            promise.reactions.add(reaction);
        }
    }

    private void settle(Mirror promise, boolean rejected) {
        promise.decided = true;
        promise.settled = true;
        promise.rejected = rejected;
        microtasks.addAll(promise.reactions);
        promise.reactions.clear();
    }
}
