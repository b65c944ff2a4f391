package dev.gyre.internal.group;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Timer;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

/// The actions that a shutdown runs before it terminates the loops. Its deadline ends them, on the
/// clock of the loops. Every loop has a timer for it, because any loop may fail during the drain.
final class GroupDrain {
    private final Group group;
    private final LoopSlots loops;

    // Shared: added by any thread.
    private final List<Function<? super Duration, ? extends CompletionStage<?>>> actions =
            new CopyOnWriteArrayList<>();

    // The thread of each loop only.
    private final @Nullable Timer[] timers;

    GroupDrain(Group group, LoopSlots loops) {
        this.group = group;
        this.loops = loops;
        timers = new @Nullable Timer[loops.size()];
    }

    void add(Function<? super Duration, ? extends CompletionStage<?>> action) {
        actions.add(action);
    }

    /// Runs the actions, and calls [Group#endLoops] once.
    void run(Duration deadline, long end) {
        List<Function<? super Duration, ? extends CompletionStage<?>>> all =
                new ArrayList<>(actions);
        loops.members().forEach(member -> all.add(member::onShutdown));
        try {
            if (!all.isEmpty()) {
                onLoops(loop -> arm(loop, end));
            }
            CompletableFuture<?> drained =
                    CompletableFuture.allOf(
                            all.stream()
                                    .map(action -> run(action, deadline))
                                    .toArray(CompletableFuture<?>[]::new));
            CompletableFuture<?> _ = drained.whenComplete((_, _) -> group.endLoops(end));
        } catch (Throwable e) {
            group.endLoops(end);
            throw e;
        }
    }

    private void arm(Loop loop, long end) {
        if (loop.state() != LoopState.TERMINATED) {
            timers[loop.groupIndex] = loop.at(end, _ -> group.endLoops(end));
        }
    }

    private static CompletableFuture<?> run(
            Function<? super Duration, ? extends CompletionStage<?>> action, Duration deadline) {
        CompletableFuture<?> done;
        try {
            done = action.apply(deadline).toCompletableFuture();
        } catch (Throwable e) {
            done = CompletableFuture.failedFuture(e);
        }
        return done.whenComplete(
                (_, e) -> {
                    if (e != null) {
                        Log.LOG.log(
                                System.Logger.Level.ERROR,
                                "an action of LoopGroup.onShutdown failed",
                                e);
                    }
                });
    }

    /// Cancels the timers, so that the reports of the loops do not count them.
    void disarm() {
        onLoops(
                loop -> {
                    Timer timer = timers[loop.groupIndex];
                    if (timer != null) {
                        timer.cancel();
                    }
                });
    }

    private void onLoops(Consumer<Loop> action) {
        for (EventLoop each : group.loops()) {
            Loop loop = Loop.of(each);
            Runnable task =
                    () -> {
                        if (loop.isLoopThread()) { // Not if another thread releases it.
                            action.accept(loop);
                        }
                    };
            boolean _ = loop.trySubmitPriority(new InternalTask(task));
        }
    }
}
