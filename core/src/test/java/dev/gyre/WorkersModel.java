package dev.gyre;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// A model of [BoundedExecutor] on a [ScriptedExecutor]: plain lists of numbers.
final class WorkersModel {
    private static final int NOTHING = -1;

    /// The work that an executor holds. Two executors may hold the same work.
    static final class Job {
        final int work;
        boolean begun;

        Job(int work) {
            this.work = work;
        }
    }

    final List<String> log = new ArrayList<>();
    final List<Job> handed = new ArrayList<>();
    final List<Job> sheltered = new ArrayList<>();
    private final Deque<Job> line = new ArrayDeque<>();
    private final int atOnce;
    private final int queued;
    private final boolean keepsRefused;
    private int running;

    int refuse;
    int inline;
    int inside = NOTHING;

    WorkersModel(int atOnce, int queued, boolean keepsRefused) {
        this.atOnce = atOnce;
        this.queued = queued;
        this.keepsRefused = keepsRefused;
    }

    int running() {
        return running;
    }

    int waiting() {
        return line.size();
    }

    /// The number of a unit of work determines its behaviour.
    static boolean isThrowing(int work) {
        return work % 5 == 3;
    }

    /// Returns the work that it submits when it runs, if any. Chains are finite.
    static int handedInBy(int work) {
        return work % 5 == 4 && work < 1_000 ? work + 1_001 : NOTHING;
    }

    private enum Outcome {
        TAKEN,
        REFUSED,
        ENDED
    }

    void execute(int work) {
        Job job = new Job(work);
        if (running == atOnce) {
            if (line.size() < queued) {
                line.add(job);
                log.add("accepted " + work);
            } else {
                log.add("refused " + work);
            }
            return;
        }
        running++;
        switch (handOver(job)) {
            case TAKEN -> log.add("accepted " + work);
            case REFUSED -> {
                job.begun = true;
                passOn(false);
                log.add("refused " + work);
            }
            case ENDED -> {
                passOn(true);
                log.add((isThrowing(work) ? "threw " : "accepted ") + work);
            }
        }
    }

    private Outcome handOver(Job job) {
        if (inside != NOTHING) {
            int newcomer = inside;
            inside = NOTHING;
            execute(newcomer);
        }
        if (refuse > 0) {
            refuse--;
            if (keepsRefused) {
                handed.add(job);
            }
            return Outcome.REFUSED;
        }
        if (inline > 0) {
            inline--;
            run(job);
            return Outcome.ENDED;
        }
        handed.add(job);
        return Outcome.TAKEN;
    }

    private void passOn(boolean lent) {
        while (!line.isEmpty()) {
            Job next = line.remove();
            switch (handOver(next)) {
                case TAKEN -> {
                    return;
                }
                case REFUSED -> {
                    if (!lent) {
                        sheltered.add(next);
                        return;
                    }
                    run(next);
                    reportIfThrowing(next);
                }
                case ENDED -> reportIfThrowing(next);
            }
        }
        running--;
    }

    private void run(Job job) {
        job.begun = true;
        log.add("ran " + job.work);
        int child = handedInBy(job.work);
        if (child != NOTHING) {
            execute(child);
        }
    }

    private void reportIfThrowing(Job job) {
        if (isThrowing(job.work)) {
            log.add("uncaught " + job.work);
        }
    }

    /// Runs the work that the executor or the last resort holds.
    void finish(List<Job> from, int index) {
        Job job = from.remove(index);
        if (job.begun) {
            return;
        }
        run(job);
        passOn(true);
        if (isThrowing(job.work)) {
            log.add("thrown " + job.work);
        }
    }

    void remove(int work) {
        for (Job job : line) {
            if (job.work == work) {
                line.remove(job);
                log.add("removed " + work);
                return;
            }
        }
        log.add("kept " + work);
    }
}
