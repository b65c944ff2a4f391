package dev.gyre;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// A program of callbacks that add callbacks and settle promises, drawn from a seed. It runs on
/// anything that has the operations of a loop, and writes down in which order its callbacks were
/// called.
final class OrderProgram {
    static final int DEFERREDS = 4;
    static final int DESCRIPTORS = 3;

    /// A loop, as such a program sees it. Promises are numbered in the order they were made, the
    /// first ones being those of the deferreds.
    interface Machine {
        void microtask(Runnable callback);

        void defer(Runnable callback);

        void submit(Runnable callback);

        void submitPriority(Runnable callback);

        void after(long nanos, Runnable callback);

        /// Makes the descriptor ready, once, and has the callback run by its watcher.
        void ready(int descriptor, Runnable callback);

        boolean resolve(int deferred);

        boolean reject(int deferred);

        boolean follow(int deferred, int promise);

        int promises();

        void then(int promise, Runnable callback);

        void finallyRun(int promise, Runnable callback);

        void thenCompose(int promise, Runnable callback, int followed);
    }

    private enum Kind {
        MICROTASK,
        DEFER,
        SUBMIT,
        PRIORITY,
        TIMER,
        READY,
        RESOLVE,
        REJECT,
        FOLLOW,
        THEN,
        FINALLY,
        COMPOSE
    }

    private record Operation(Kind kind, int first, int second, List<Operation> inside, int id) {}

    private final List<Operation> main;
    private int lastId;

    OrderProgram(long seed) {
        main = drawn(new Random(seed), 8, 3);
    }

    private List<Operation> drawn(Random random, int most, int depth) {
        List<Operation> all = new ArrayList<>();
        for (int left = 1 + random.nextInt(most); left > 0; left--) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            List<Operation> inside =
                    depth == 0 || random.nextInt(4) == 0 ? List.of() : drawn(random, 3, depth - 1);
            all.add(
                    new Operation(
                            kind, random.nextInt(100), random.nextInt(100), inside, ++lastId));
        }
        return all;
    }

    /// Does what the main program does, before or inside a run.
    void begin(Machine machine, List<String> log) {
        perform(main, machine, log);
    }

    private static void perform(List<Operation> operations, Machine machine, List<String> log) {
        for (Operation operation : operations) {
            perform(operation, machine, log);
        }
    }

    private static void perform(Operation operation, Machine machine, List<String> log) {
        int first = operation.first();
        int second = operation.second();
        Runnable callback =
                () -> {
                    log.add(operation.kind() + "#" + operation.id());
                    perform(operation.inside(), machine, log);
                };
        switch (operation.kind()) {
            case MICROTASK -> machine.microtask(callback);
            case DEFER -> machine.defer(callback);
            case SUBMIT -> machine.submit(callback);
            case PRIORITY -> machine.submitPriority(callback);
            case TIMER -> machine.after(first % 3 * 10L, callback);
            case READY -> machine.ready(first % DESCRIPTORS, callback);
            case RESOLVE -> log.add("" + machine.resolve(first % DEFERREDS));
            case REJECT -> log.add("" + machine.reject(first % DEFERREDS));
            case FOLLOW -> {
                int follower = 1 + first % (DEFERREDS - 1);
                log.add("" + machine.follow(follower, second % follower)); // Never in a circle.
            }
            case THEN -> machine.then(first % machine.promises(), callback);
            case FINALLY -> machine.finallyRun(first % machine.promises(), callback);
            case COMPOSE ->
                    machine.thenCompose(
                            first % machine.promises(), callback, second % machine.promises());
        }
    }
}
