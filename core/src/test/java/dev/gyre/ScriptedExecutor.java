package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/// An executor that runs or rejects work when the test says so.
final class ScriptedExecutor implements Executor {
    private final List<Runnable> given = new ArrayList<>();
    private int calls;
    private int inline;
    private int refuse;
    private Throwable refusal = new RejectedExecutionException("scripted");
    private boolean keepsRefused;
    private @Nullable Runnable beforeNext;

    /// Runs the next units of work inside [#execute].
    void runInline(int count) {
        inline = count;
    }

    /// Rejects the next units of work.
    void refuse(int count) {
        refuse = count;
    }

    void refuseWith(Throwable thrown) {
        refusal = thrown;
        refuse = 1;
    }

    /// Keeps rejected work and runs it later.
    void keepRefused() {
        keepsRefused = true;
    }

    /// Runs the action first in the next [#execute].
    void beforeNext(@Nullable Runnable action) {
        beforeNext = action;
    }

    @Override
    public void execute(Runnable work) {
        calls++;
        Runnable action = beforeNext;
        beforeNext = null;
        if (action != null) {
            action.run();
        }
        if (refuse > 0) {
            refuse--;
            if (keepsRefused) {
                given.add(work);
            }
            throw ScriptedExecutor.<RuntimeException>asUnchecked(refusal);
        }
        if (inline > 0) {
            inline--;
            work.run();
            return;
        }
        given.add(work);
    }

    /// Returns the number of submissions.
    int calls() {
        return calls;
    }

    int held() {
        return given.size();
    }

    void run(int index) {
        given.remove(index).run();
    }

    void runNext() {
        run(0);
    }

    void runAll() {
        while (!given.isEmpty()) {
            runNext();
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T asUnchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
